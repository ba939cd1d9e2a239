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
// one of them. The sources are not touched: an overlay of the go command has the changed ones. Each
// test is run once by itself to learn which mutants it reaches, that is, for which of them something
// would be decided differently. Only those tests are run against a mutant, the quickest first. One
// that no test reaches has survived.
//
// To work on survivors, keep what it prints: -longest 1s leaves out the tests that take long, and
// -again looks only at the mutants that a file with such lines names, as long as the code that is
// changed is the same.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	every := flag.Int("every", 1, "look at one mutant in so many")
	from := flag.Int("from", 0, "beginning with this one")
	again := flag.String("again", "", "look only at those that survived by this output of a run")
	by := flag.String("by", "", "run only the tests of packages whose name has this in it")
	limit := flag.Duration("limit", 5*time.Second,
		"how long a test may take, besides ten times what it takes: longer, it notices")
	longest := flag.Duration("longest", 0, "run no test that takes longer than this, if not 0")
	least := flag.Int("least", 90, "how many of a hundred must be noticed")
	root := flag.String("root", "..", "the module whose packages are changed")
	flag.Parse()
	if flag.NArg() == 0 || *every < 1 {
		fmt.Fprintln(os.Stderr, "mutate: expected -every 1 or more, and packages: ./checker")
		os.Exit(2)
	}
	suites = slices.DeleteFunc(suites, func(s suite) bool { return !strings.Contains(s.pkg, *by) })
	if len(suites) == 0 {
		fmt.Fprintf(os.Stderr, "mutate: -by %s is in the name of no package whose tests are run\n", *by)
		os.Exit(2)
	}
	m := &mutator{root: *root, every: *every, from: *from, again: *again, limit: *limit,
		longest: *longest}
	if err := m.run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	noticed := len(m.chosen) - m.survived
	score := 100 * noticed / max(len(m.chosen), 1)
	fmt.Printf("%d mutants, %d looked at, %d noticed: %d %% (%d in that a test did not end)\n",
		len(m.mutants), len(m.chosen), noticed, score, m.endless)
	if score < *least {
		os.Exit(1)
	}
}

// mutator makes mutants and runs tests against them.
type mutator struct {
	root     string
	every    int
	from     int
	again    string // a file that names those to look at, or none
	limit    time.Duration
	longest  time.Duration
	mutants  []mutant
	chosen   []mutant
	survived int
	endless  int    // noticed only in that a test did not end
	dir      string // of the overlay and the binaries
	binaries []string
	units    []unit // the quickest first
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
	if err := m.choose(); err != nil {
		return err
	}
	if err := m.build(overlay); err != nil {
		return err
	}
	if err := m.survey(); err != nil {
		return err
	}
	m.all()
	return nil
}

// choose takes one mutant in so many, of all or of those that survived before.
func (m *mutator) choose() error {
	list := m.mutants
	if m.again != "" {
		data, err := os.ReadFile(m.again)
		if err != nil {
			return err
		}
		before := strings.Split(string(data), "\n")
		list = slices.DeleteFunc(slices.Clone(list), func(one mutant) bool {
			return !slices.Contains(before, survival(one))
		})
	}
	for i := m.from; i < len(list); i += m.every {
		m.chosen = append(m.chosen, list[i])
	}
	return nil
}

// survival is the line that says of a mutant that it has survived.
func survival(one mutant) string { return "survived: " + one.String() }

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

// all looks at each chosen mutant, on all cores, and prints those that survive, in their order.
func (m *mutator) all() {
	type result struct{ isDone, isNoticed, isEndless bool }
	results := make([]result, len(m.chosen))
	var wg sync.WaitGroup
	var mu sync.Mutex
	next, done := make(chan int), 0
	report := func() {
		for ; done < len(results) && results[done].isDone; done++ {
			if results[done].isEndless {
				m.endless++
			}
			if !results[done].isNoticed {
				m.survived++
				fmt.Println(survival(m.chosen[done]))
			}
			if done%50 == 49 {
				fmt.Fprintf(os.Stderr, "mutate: %d of %d, %d survived\n", done+1, len(results),
					m.survived)
			}
		}
	}
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				isNoticed, isEndless := m.noticed(m.chosen[i])
				mu.Lock()
				results[i] = result{true, isNoticed, isEndless}
				report()
				mu.Unlock()
			}
		})
	}
	for i := range m.chosen {
		next <- i
	}
	close(next)
	wg.Wait()
}
