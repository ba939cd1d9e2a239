//go:build !unix

package simcli

// ignorePipe does nothing where there is no such signal.
func ignorePipe() {}

// isBrokenPipe reports whether nobody reads any more: there is no such error.
func isBrokenPipe(error) bool { return false }
