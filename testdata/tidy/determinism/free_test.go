package determinism

import (
	"sync"
	"testing"
	"time"
)

func TestFree(t *testing.T) {
	var wg sync.WaitGroup
	wg.Go(func() { time.Sleep(0.5 * 1e3) })
	wg.Wait()
}
