//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package simcli

import "os"

// isLockedElsewhere reports whether another process has a file: there is no such lock.
func isLockedElsewhere(*os.File) bool { return false }
