package simcli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/oncesim/oncesim/search"
)

const mergeHelp = `Puts the results of a sweep together that were written to several files: by
shards, or by sweeps that went on elsewhere. What two files have is compared:
the same seeds have the same hashes everywhere. The result shows what one sweep
over all the seeds shows, and with -o it is written as one file with sorted lines,
the same bytes however the work was spread.`

func (a *app) mergeCommand() *cobra.Command {
	var out string
	var asJSON, force bool
	cmd := &cobra.Command{
		Use:   "merge FILE...",
		Short: "put the results of a sweep's parts together and compare them",
		Long:  mergeHelp,
		Example: a.examples("merge part*.jsonl", "merge part*.jsonl -o all.jsonl",
			"merge night.jsonl --json"),
		Args: some("a result file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.merge(args, out, force, asJSON)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "write the merged results to `FILE`")
	addForce(cmd, &force)
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the result as a JSON document")
	return cmd
}

func (a *app) merge(files []string, out string, force, asJSON bool) error {
	a.doing = "merging"
	var parts []*search.Results
	for _, path := range files {
		r, whole, err := a.readResults(path)
		switch {
		case err != nil:
			return err
		case r == nil:
			return fail(statusUsage, "%s has no results", path)
		}
		if info, err := os.Stat(path); err == nil && info.Size() > whole {
			a.tell("%s: the last line is not whole and is left out", path)
		}
		parts = append(parts, r)
	}
	all, err := search.MergeResults(parts)
	if err != nil {
		return withDifference(err)
	}
	if out != "" {
		if err := writeNew(out, overwrite{force, files}, all.Write); err != nil {
			return err
		}
	}
	a.showSweep(all, asJSON)
	return nil
}
