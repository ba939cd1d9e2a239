package simcli

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var sweepFull = flag.Bool("sweep.full", false, "kill a sweep fifty times, not twelve")

// buildCommand builds the command into a folder of the test and returns its path.
func buildCommand(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "simrun")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	out, err := exec.Command("go", "build", "-o", path, "../cmd/simrun").CombinedOutput()
	require.NoError(t, err, string(out))
	return path
}

// runCommand runs a built command and returns its status.
func runCommand(t *testing.T, path string, args ...string) int {
	t.Helper()
	out, err := exec.Command(path, args...).CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	require.NoError(t, err, string(out))
	return 0
}

// killCommand runs a built command and kills it once a file has so many bytes. It reports whether
// the command was over before.
func killCommand(t *testing.T, path, file string, bytes int64, args ...string) bool {
	t.Helper()
	cmd := exec.Command(path, args...)
	require.NoError(t, cmd.Start())
	over := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(over)
	}()
	for sizeOf(file) < bytes {
		select {
		case <-over:
			return true
		case <-time.After(time.Millisecond):
		}
	}
	require.NoError(t, ignoreDone(cmd.Process.Kill()))
	<-over
	return cmd.ProcessState.ExitCode() >= 0
}

// sizeOf is how many bytes a file has; one that is not there has none.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// ignoreDone is the error of ending a process, unless it had ended.
func ignoreDone(err error) error {
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}
