// Command mutate measures whether tests notice when the code that they test is wrong. It makes small
// changes to the source of packages, one at a time, and runs tests against each: a change that no
// test notices has survived.
//
//	go run -C tools ./mutate -every 10 ./checker
//
// It turns comparisons into their opposites, shifts their bounds by one, and keeps branches from
// being taken; arithmetic, constants and statements stay as they are.
//
// All mutants are compiled into each test binary once, asleep; the environment variable MUTANT wakes
// one of them. The sources are not touched: an overlay of the go command has the changed ones.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// suite is a package whose tests are run, and which of them.
type suite struct {
	pkg  string
	args []string
}

// suites are asked in turn, the quick ones first: those tests which look at a checker.
var suites = []suite{
	{"./checker", []string{"-test.short"}},
	{"./scenarios", []string{"-test.short", "-test.run", "Golden|Hashes|Builtin|Lesson"}},
	{"./internal/oracle", []string{"-test.run", "Agreement|Defect"}},
	{"./search", []string{"-test.short", "-test.run", "TestGolden$"}},
}

func main() {
	every := flag.Int("every", 1, "look at one mutant in so many")
	from := flag.Int("from", 0, "beginning with this one")
	limit := flag.Duration("limit", 2*time.Minute, "how long a suite may take: longer, it notices")
	least := flag.Int("least", 90, "how many of a hundred must be noticed")
	root := flag.String("root", "..", "the module whose packages are changed")
	flag.Parse()
	if flag.NArg() == 0 || *every < 1 {
		fmt.Fprintln(os.Stderr, "mutate: expected -every 1 or more, and packages: ./checker")
		os.Exit(2)
	}
	m := &mutator{root: *root, every: *every, from: *from, limit: *limit}
	if err := m.run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	noticed := len(m.chosen) - len(m.survivors)
	score := 100 * noticed / max(len(m.chosen), 1)
	fmt.Printf("%d mutants, %d looked at, %d noticed: %d %% (%d in that a test did not end)\n",
		len(m.mutants), len(m.chosen), noticed, score, m.endless)
	if score < *least {
		os.Exit(1)
	}
}

// mutator makes mutants and runs tests against them.
type mutator struct {
	root      string
	every     int
	from      int
	limit     time.Duration
	mutants   []mutant
	chosen    []mutant
	survivors []mutant
	endless   int    // noticed only in that a suite did not end
	dir       string // of the overlay and the binaries
	binaries  []string
}

func (m *mutator) run(packages []string) error {
	var err error
	if m.root, err = filepath.Abs(m.root); err != nil {
		return err
	}
	if m.dir, err = os.MkdirTemp("", "mutate"); err != nil {
		return err
	}
	defer os.RemoveAll(m.dir)
	overlay := map[string]string{}
	for _, pkg := range packages {
		if err := m.change(pkg, overlay); err != nil {
			return err
		}
	}
	if err := m.build(overlay); err != nil {
		return err
	}
	limit := m.limit
	m.limit = 10 * limit
	if by, out := m.noticedBy(mutant{id: -1}); by != "" {
		return fmt.Errorf("tests of %s fail although no mutant is awake:\n%s", by, out)
	}
	m.limit = limit
	for i := m.from; i < len(m.mutants); i += m.every {
		m.chosen = append(m.chosen, m.mutants[i])
	}
	m.all()
	return nil
}

// build compiles the tests of all suites with the mutants asleep in them.
func (m *mutator) build(replace map[string]string) error {
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	path := filepath.Join(m.dir, "overlay.json")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return err
	}
	for i, s := range suites {
		binary := filepath.Join(m.dir, fmt.Sprintf("suite%d.test", i))
		cmd := exec.Command("go", "test", "-c", "-overlay", path, "-o", binary, s.pkg)
		cmd.Dir = m.root
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", s.pkg, err, out)
		}
		m.binaries = append(m.binaries, binary)
	}
	return nil
}

// all looks at each chosen mutant, on all cores, and prints those that survive.
func (m *mutator) all() {
	var wg sync.WaitGroup
	var mu sync.Mutex
	next := make(chan mutant)
	done := 0
	for range runtime.GOMAXPROCS(0) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for one := range next {
				by, out := m.noticedBy(one)
				mu.Lock()
				if by != "" && out == nil {
					m.endless++
				}
				if done++; by == "" {
					m.survivors = append(m.survivors, one)
					fmt.Printf("survived: %s\n", one)
				}
				if done%50 == 0 {
					fmt.Fprintf(os.Stderr, "mutate: %d of %d, %d survived\n", done, len(m.chosen),
						len(m.survivors))
				}
				mu.Unlock()
			}
		}()
	}
	for _, one := range m.chosen {
		next <- one
	}
	close(next)
	wg.Wait()
}

// noticedBy runs the suites until one fails with a mutant awake, and names it. One that does not end
// in time fails, and has no output.
func (m *mutator) noticedBy(one mutant) (pkg string, out []byte) {
	for i, s := range suites {
		ctx, cancel := context.WithTimeout(context.Background(), m.limit)
		defer cancel()
		args := append([]string{"-test.failfast"}, s.args...)
		cmd := exec.CommandContext(ctx, m.binaries[i], args...)
		cmd.Dir = filepath.Join(m.root, strings.TrimPrefix(s.pkg, "./"))
		cmd.Env = append(os.Environ(), fmt.Sprintf("MUTANT=%d", one.id), "GOMAXPROCS=1",
			"GOMEMLIMIT=2GiB")
		start := time.Now()
		out, err := cmd.CombinedOutput()
		if one.id < 0 {
			fmt.Fprintf(os.Stderr, "mutate: %s takes %.0f s\n", s.pkg, time.Since(start).Seconds())
		}
		switch {
		case ctx.Err() != nil:
			return s.pkg, nil
		case err != nil:
			return s.pkg, out
		}
	}
	return "", nil
}
