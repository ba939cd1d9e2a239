package report

import (
	"slices"

	"github.com/oncesim/oncesim/checker"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// isFinding reports whether an anomaly is a finding in runs of s, and no outcome: reports tell it
// apart, and tables leave it out. It is about the mechanism, and s as it is set claims no property
// that it violates. What may break a claim is never hidden: that commits are seen half-way is a
// finding where each sink commits, and an outcome where one commits for all.
func isFinding(lib *scenarios.Library, s *scenarios.Scenario, kind model.AnomalyKind) bool {
	claims := s.Claims()
	return kind.IsFinding() && !slices.ContainsFunc(lib.Properties, func(p checker.Property) bool {
		return slices.Contains(claims, p.Name) && slices.Contains(p.Anomalies, kind)
	})
}
