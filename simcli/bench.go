package simcli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oncesim/oncesim/internal/bench"
)

const benchHelp = `Measures the testbed beside yardsticks that do comparable work: both take turns,
and the median of the ratios is what counts. It takes a minute or two and 3 GB
of memory; on a busy machine repeat it. It fails if a goal is not met.`

func (a *app) benchCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "bench",
		Short:   "measure speed against yardsticks",
		Long:    benchHelp,
		Example: a.examples("bench", "bench --json"),
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.doing = "the measurements"
			doc := benchDoc{Results: []bench.Result{}}
			err := bench.Run(cmd.Context(), func(r bench.Result) {
				doc.Results = append(doc.Results, r)
				if !r.Met {
					a.note(statusUnmet)
				}
				if !asJSON {
					a.out.print(benchLine(r))
				}
			})
			if err == nil && asJSON && cmd.Context().Err() == nil {
				a.out.json(doc)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write a JSON document")
	return cmd
}

// benchDoc is what "bench --json" prints.
type benchDoc struct {
	Results []bench.Result `json:"results"`
}

// benchLine is one measurement, on two lines.
func benchLine(r bench.Result) string {
	mark := "ok"
	if !r.Met {
		mark = "FAIL"
	}
	return fmt.Sprintf("%-4s  %s: %.4g %s\n      %.3gx (goal %s) %s\n", mark, r.Name, r.Value,
		r.Unit, r.Ratio, r.Goal, r.To)
}
