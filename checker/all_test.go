package checker

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

// TestAllIsComplete finds each function of this package that makes a Property and looks for it in
// the list, so that a file cannot be forgotten there.
func TestAllIsComplete(t *testing.T) {
	listed, made := map[string]bool{}, map[string]string{}
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file.Name(), nil, 0)
		require.NoError(t, err)
		for _, decl := range tree.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Type.Results == nil {
				continue
			}
			if name, ok := f.Type.Results.List[0].Type.(*ast.Ident); ok && name.Name == "Property" {
				made[f.Name.Name] = file.Name()
			}
			if f.Name.Name == "All" {
				ast.Inspect(f, func(n ast.Node) bool {
					if call, ok := n.(*ast.CallExpr); ok {
						listed[call.Fun.(*ast.Ident).Name] = true
					}
					return true
				})
			}
		}
	}
	require.Len(t, made, 14)
	for name, file := range made {
		require.True(t, listed[name], "%s of %s is not in All", name, file)
		require.Equal(t, strings.ToLower(name)+".go", file)
	}
}

// TestPropertiesAreDescribed wants a name, a sentence, a source and the anomalies of each, and the
// anomalies in the order in which they are reported.
func TestPropertiesAreDescribed(t *testing.T) {
	rank := map[model.AnomalyKind]int{}
	for i, kind := range model.Anomalies() {
		rank[kind] = i
	}
	seen := map[string]bool{}
	for _, p := range All() {
		require.False(t, seen[p.Name], p.Name)
		seen[p.Name] = true
		require.NotEmpty(t, p.Says, p.Name)
		require.NotEmpty(t, p.Source, p.Name)
		require.NotNil(t, p.Check, p.Name)
		require.NotEmpty(t, p.Anomalies, p.Name)
		for i := 1; i < len(p.Anomalies); i++ {
			require.Less(t, rank[p.Anomalies[i-1]], rank[p.Anomalies[i]], p.Name)
		}
	}
}

// TestAnomaliesAreDeclared judges random histories: what is reported must be among what the
// property says that it reports, and a violation must have at least one anomaly.
func TestAnomaliesAreDeclared(t *testing.T) {
	j, props := NewJudge(), All()
	specs := []string{"sum", "odd", "pair", "double>roll", "odd>double", "sum>roll", "noise",
		"roll@rows", "twin@keys", "rekey@keys", "dice@keys", "sum>roll@keys", "roll>rekey@keys"}
	reported := map[model.AnomalyKind]bool{}
	judge := func(p *play, story string) {
		for i, v := range j.Judge(p.s, props) {
			require.Equal(t, v.Result == model.Violated, len(v.Anomalies) > 0, "%s of %s",
				v.Property, story)
			if v.Result != model.Violated { // or else more may be wrong
				require.Equal(t, v.Result == model.Undecided, v.Reason != "", v.Property)
			}
			for _, a := range v.Anomalies {
				reported[a.Kind] = true
				require.Contains(t, props[i].Anomalies, a.Kind, "%s of %s", v.Property, story)
			}
		}
	}
	for seed := range fewer(6_000, 0) {
		judge(randomPlay(t, seed, specs))
	}
	for _, c := range slices.Concat(stories, snapStories) {
		judge(stage(t, c.spec, c.mode, c.story), c.story)
	}
	require.Len(t, reported, len(model.Anomalies()))
}
