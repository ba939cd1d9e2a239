package oncesim_test

import (
	"go/ast"
	"go/build"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// instead names the replacement for what the core must not use of the standard library: the first
// entry whose prefix fits a "package.name" decides.
var instead = []struct{ prefix, advice string }{
	{"time.", "a process sets timers with Script.After and a service is told the virtual time"},
	{"sync", "a run lives on one goroutine, plain fields do"},
	{"math/rand", "draw with model.Draw, keyed by what the draw is about"},
	{"crypto/rand", "draw with model.Draw, keyed by what the draw is about"},
	{"hash/maphash", "hash with model.HashText"},
	{"maps.", "go through model.SortedKeys"},
	{"fmt.Print", "return the text, report and simcli show it"},
	{"fmt.Scan", "take the text as an argument"},
	{"os.", "take the value as an argument, simcli knows the machine"},
	{"iter.Pull", "range over the sequence"},
	{"reflect", "write the cases out, state is encoded with model.Codec"},
	{"unsafe", "write it with plain types"},
	{"runtime", "nothing of the machine may reach a run"},
	{"", "do without, or allow it in tidy_test.go with a reason"},
}

func adviceFor(importPath, name string) string {
	for _, entry := range instead {
		if strings.HasPrefix(importPath+"."+name, entry.prefix) {
			return entry.advice
		}
	}
	panic("the last prefix fits everything")
}

// coreMay reports whether the core may use a name of the standard library; with name "" whether it
// may import the package.
func coreMay(importPath, name string) bool {
	names, ok := coreImports[importPath]
	if !ok || name == "" || names == "" {
		return ok
	}
	except, isDeny := strings.CutPrefix(names, "-")
	return slices.Contains(strings.Fields(except), name) != isDeny
}

// checkDeterminism finds what could make two runs of one scenario differ. It asks the type checker
// what each name means, so that neither a renamed or dotted import nor an alias, nor a function
// kept as a value, hides anything.
func checkDeterminism(t *tree, dirs []string, mapRange string) []finding {
	var found []finding
	for _, f := range t.files {
		if slices.Contains(dirs, f.dir) && !f.isTest {
			found = append(found, checkPlatform(t, f)...)
			found = append(found, checkCoreImports(t, f)...)
		}
	}
	for _, dir := range dirs {
		p := t.pkgs[dir]
		if p == nil {
			continue
		}
		found = append(found, checkUses(t, p)...)
		found = append(found, checkFloats(t, p)...)
		for _, f := range p.Syntax {
			ast.Inspect(f, func(n ast.Node) bool {
				if message := judgeNode(p.TypesInfo, n); message != "" {
					found = append(found, t.at(n.Pos(), "%s", message))
				}
				return true
			})
		}
	}
	return slices.DeleteFunc(found, func(f finding) bool {
		return f.path == mapRange && f.message == rangeOverMap
	})
}

// checkPlatform finds a file that is not the same code on every platform.
func checkPlatform(t *tree, f *file) []finding {
	nowhere := build.Default
	nowhere.GOOS, nowhere.GOARCH = "nowhere", "nothing"
	full := filepath.Join(t.root, filepath.FromSlash(f.path))
	everywhere, err := nowhere.MatchFile(filepath.Dir(full), filepath.Base(full))
	for _, group := range f.syntax.Comments {
		for _, c := range group.List {
			everywhere = everywhere && !strings.HasPrefix(c.Text, "//go:build")
		}
	}
	if err == nil && everywhere {
		return nil
	}
	return []finding{t.at(f.syntax.Package,
		"a build constraint: the core is the same code on every platform, decide in simcli")}
}

func checkCoreImports(t *tree, f *file) []finding {
	var found []finding
	for _, spec := range f.syntax.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		if isStandard(imported) && !coreMay(imported, "") {
			found = append(found, t.at(spec.Pos(), "the core must not import %s: %s",
				imported, adviceFor(imported, "")))
		}
	}
	return found
}

// isStandard reports whether an import path is of the standard library: its first element has no
// dot.
func isStandard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

// checkUses finds names of the standard library that the core must not use, however they are
// written.
func checkUses(t *tree, p *packages.Package) []finding {
	var found []finding
	for id, obj := range p.TypesInfo.Uses {
		if b, ok := obj.(*types.Builtin); ok && strings.HasPrefix(b.Name(), "print") {
			found = append(found, t.at(id.Pos(), "the core must not use %s: %s",
				b.Name(), adviceFor("fmt", "Print")))
		}
		if _, ok := obj.(*types.PkgName); ok || obj.Pkg() == nil || !isStandard(obj.Pkg().Path()) {
			continue
		}
		from, name := obj.Pkg().Path(), obj.Name()
		if obj.Parent() != obj.Pkg().Scope() {
			name = "" // a method or field: its package decides
		}
		if !coreMay(from, name) {
			found = append(found, t.at(id.Pos(), "the core must not use %s.%s: %s",
				path.Base(from), obj.Name(), adviceFor(from, obj.Name())))
		}
	}
	return found
}

const noFloat = "a floating-point number: use integers (parts per million, virtual ns)"

// checkFloats finds expressions and declarations of floating or complex type.
func checkFloats(t *tree, p *packages.Package) []finding {
	var found []finding
	for e, tv := range p.TypesInfo.Types {
		if isFloat(tv.Type) {
			found = append(found, t.at(e.Pos(), noFloat))
		}
	}
	for id, obj := range p.TypesInfo.Defs {
		if obj != nil && isFloat(obj.Type()) {
			found = append(found, t.at(id.Pos(), noFloat))
		}
	}
	return found
}

func isFloat(t types.Type) bool {
	if t == nil {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&(types.IsFloat|types.IsComplex) != 0
	case *types.Tuple:
		for v := range u.Variables() {
			if isFloat(v.Type()) {
				return true
			}
		}
	}
	return false
}

const (
	noGoroutine  = "a goroutine or channel: a run lives on one goroutine, answer with an effect"
	rangeOverMap = "a range over a map: its order differs from run to run, " +
		"go through model.SortedKeys"
)

// judgeNode says what is wrong with a piece of syntax, or "".
func judgeNode(info *types.Info, n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt, *ast.SelectStmt, *ast.ChanType, *ast.SendStmt:
		return noGoroutine
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return noGoroutine
		}
	case *ast.RangeStmt:
		if t := info.TypeOf(n.X); t != nil && isMap(t) {
			return rangeOverMap
		}
	}
	if e, ok := n.(ast.Expr); ok {
		if t := info.TypeOf(e); t != nil && isChan(t) {
			return noGoroutine
		}
	}
	return ""
}

func isChan(t types.Type) bool {
	_, ok := t.Underlying().(*types.Chan)
	return ok
}

// isMap reports whether t is a map, or a type parameter that may be one.
func isMap(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Map:
		return true
	case *types.Union:
		for term := range u.Terms() {
			if isMap(term.Type()) {
				return true
			}
		}
	case *types.Interface:
		for e := range u.EmbeddedTypes() {
			if isMap(e) {
				return true
			}
		}
	}
	return false
}
