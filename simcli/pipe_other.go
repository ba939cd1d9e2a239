//go:build !unix

package simcli

// ignorePipe does nothing where there is no such signal.
func ignorePipe() {}
