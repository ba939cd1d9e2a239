//go:build !unix

package bench

import "time"

// spent is the time of day, where nobody says what processor time a process has had.
func spent() time.Duration { return time.Duration(time.Now().UnixNano()) }
