package oncesim_test

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// finding is one breach of a rule.
type finding struct {
	path    string
	line    int
	message string
}

func (f finding) String() string { return fmt.Sprintf("%s:%d: %s", f.path, f.line, f.message) }

// tidied sorts findings and drops what is said twice of one line.
func tidied(list []finding) []finding {
	slices.SortFunc(list, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.line, b.line),
			cmp.Compare(a.message, b.message))
	})
	return slices.Compact(list)
}

// tree is the source under a folder of the module: every Go file as text and syntax, test files
// and files for other platforms included, and every package with types, without its tests.
type tree struct {
	root    string // absolute
	base    string // import path of root
	fset    *token.FileSet
	files   []*file
	pkgs    map[string]*packages.Package // by folder below root, with slashes
	folders []string                     // the folders directly below root that hold a file
}

// file is one Go file. It is parsed on its own, so that rules of form need no types.
type file struct {
	path, dir string // below root, with slashes
	text      []byte
	syntax    *ast.File
	isTest    bool
}

const loadMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles |
	packages.NeedImports | packages.NeedExportFile | packages.NeedTypes | packages.NeedSyntax |
	packages.NeedTypesInfo

// load reads the tree at dir, a folder of this module. What other modules and the standard library
// export comes from the build cache; our own packages are checked from source in one go, so that
// an object of one is the same object wherever it is used.
func load(dir string) (*tree, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	t := &tree{root: root, base: path.Join(module, filepath.ToSlash(dir)),
		fset: token.NewFileSet(), pkgs: map[string]*packages.Package{}}
	if err := filepath.WalkDir(root, t.visit); err != nil {
		return nil, err
	}
	pkgs, err := packages.Load(&packages.Config{Mode: loadMode, Dir: root, Fset: t.fset}, "./...")
	if err != nil {
		return nil, err
	}
	for _, p := range pkgs {
		if below, ok := t.ours(p.PkgPath); ok {
			t.pkgs[below] = p
		}
	}
	return t, nil
}

// visit reads one file. Reading them all here, and not only in the go command, also tells the test
// cache what the result hangs on.
func (t *tree) visit(at string, d fs.DirEntry, err error) error {
	if err != nil || at == t.root {
		return err
	}
	below, err := filepath.Rel(t.root, at)
	if err != nil {
		return err
	}
	below = filepath.ToSlash(below)
	if d.IsDir() {
		_, nested := os.Stat(filepath.Join(at, "go.mod"))
		if strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		if nested == nil || d.Name() == "testdata" {
			t.addFolder(below)
			return fs.SkipDir
		}
		return nil
	}
	if strings.Contains(below, "/") {
		t.addFolder(below)
	}
	if strings.HasSuffix(below, ".go") {
		return t.read(at, below)
	}
	return nil
}

// addFolder notes the top-level folder of a path.
func (t *tree) addFolder(below string) {
	top, _, _ := strings.Cut(below, "/")
	if !slices.Contains(t.folders, top) {
		t.folders = append(t.folders, top)
	}
}

func (t *tree) read(at, below string) error {
	text, err := os.ReadFile(at)
	if err != nil {
		return err
	}
	f := &file{path: below, dir: path.Dir(below), text: text,
		isTest: strings.HasSuffix(below, "_test.go")}
	f.syntax, err = parser.ParseFile(t.fset, at, text, parser.ParseComments)
	if err != nil {
		return err
	}
	t.files = append(t.files, f)
	return nil
}

// ours returns the folder of an import path; ok is false for packages of others.
func (t *tree) ours(importPath string) (dir string, ok bool) {
	if importPath == t.base {
		return ".", true
	}
	return strings.CutPrefix(importPath, t.base+"/")
}

// at makes a finding about a place in a file.
func (t *tree) at(pos token.Pos, format string, args ...any) finding {
	p := t.fset.Position(pos)
	below, err := filepath.Rel(t.root, p.Filename)
	if err != nil {
		below = p.Filename
	}
	return finding{filepath.ToSlash(below), p.Line, fmt.Sprintf(format, args...)}
}

// dirs are the folders that hold packages, in order.
func (t *tree) dirs() []string {
	var dirs []string
	for _, f := range t.files {
		dirs = append(dirs, f.dir)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// clause is the place for findings about a package as a whole: the package clause of its first
// file.
func (t *tree) clause(dir string) token.Pos {
	first := token.NoPos
	for _, f := range t.files {
		switch {
		case f.dir == dir && !f.isTest:
			return f.syntax.Package
		case f.dir == dir && first == token.NoPos:
			first = f.syntax.Package
		}
	}
	return first
}

// lines calls visit for each line of f, numbered from 1.
func (f *file) lines(visit func(n int, line string)) {
	s := bufio.NewScanner(bytes.NewReader(f.text))
	s.Buffer(nil, len(f.text)+1)
	for n := 1; s.Scan(); n++ {
		visit(n, s.Text())
	}
}

// named returns the defined type behind t, with at most one pointer taken off, or nil.
func named(t types.Type) *types.TypeName {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return n.Obj()
	}
	return nil
}

// checkCompiles finds what keeps the other rules from seeing a package.
func checkCompiles(t *tree) []finding {
	var found []finding
	for _, p := range t.pkgs {
		for _, e := range p.Errors {
			f := finding{path: p.PkgPath, message: e.Msg}
			if name, line, ok := cutPosition(e.Pos); ok {
				if below, err := filepath.Rel(t.root, name); err == nil {
					f.path, f.line = filepath.ToSlash(below), line
				}
			}
			found = append(found, f)
		}
	}
	return found
}

// cutPosition takes "file:line:column" apart, from the right: a file name may hold colons.
func cutPosition(pos string) (name string, line int, ok bool) {
	at := strings.LastIndex(pos, ":")
	if at < 0 {
		return "", 0, false
	}
	name = pos[:at]
	if i := strings.LastIndex(name, ":"); i >= 0 {
		_, err := fmt.Sscanf(name[i+1:], "%d", &line)
		return name[:i], line, err == nil
	}
	return "", 0, false
}
