package simcli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
)

// versions is what "version --json" prints.
type versions struct {
	Version string `json:"version"`
	Golden  int    `json:"golden"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func currentVersions() versions {
	return versions{report.Version(), scenarios.GoldenVersion, runtime.Version(), runtime.GOOS,
		runtime.GOARCH}
}

// String is one line.
func (v versions) String() string {
	return fmt.Sprintf("%s, golden hashes %d, %s, %s/%s", v.Version, v.Golden, v.Go, v.OS, v.Arch)
}

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "show the versions that decide what a run gives",
		Example: a.examples("version", "version --json"),
		Args:    none,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				a.out.json(currentVersions())
			} else {
				a.out.print(fmt.Sprintf("%s %s\n", a.program, currentVersions()))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write a JSON document")
	return cmd
}
