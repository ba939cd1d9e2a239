// Command simrun runs pipelines in simulated worlds and judges their delivery guarantees.
package main

import (
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/simcli"
)

func main() { simcli.Main(scenarios.Builtin()) }
