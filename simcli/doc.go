// Package simcli is the command as a package: flags in, exit status out. A program with its own
// operators, modes or sinks is three lines:
//
//	library := scenarios.Builtin()
//	library.Operators = append(library.Operators, &mine)
//	simcli.Main(library)
//
// # The rules
//
//   - The result goes to standard output, everything else to standard error. Nothing moves and
//     nothing is coloured unless a terminal is there to see it.
//   - The exit status says what happened, and where several things did, the worst of them: the
//     table is in status.go. It never carries a count.
//   - A result that cannot be written is an error, also at its last byte.
//   - Files are written whole or not at all.
//   - An interrupt ends the work and not the result: what is done is written.
package simcli
