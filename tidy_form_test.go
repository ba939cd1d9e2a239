package oncesim_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode/utf8"
)

// checkDocs finds packages without a package comment, and exported names whose doc comment is
// missing or does not begin with the name.
func checkDocs(t *tree) []finding {
	var found []finding
	for _, dir := range t.dirs() {
		has, isCode := false, false
		for _, f := range t.files {
			if f.dir == dir && !f.isTest {
				isCode = true
				has = has || f.syntax.Doc != nil
			}
		}
		if isCode && !has {
			found = append(found, t.at(t.clause(dir), "the package has no package comment: "+
				"say what it is, its smallest use and its rules"))
		}
	}
	for _, f := range t.files {
		if f.isTest || f.syntax.Name.Name == "main" {
			continue
		}
		for _, decl := range f.syntax.Decls {
			found = append(found, checkDoc(t, decl)...)
		}
	}
	return found
}

func checkDoc(t *tree, decl ast.Decl) []finding {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil && !ast.IsExported(receiverOf(d)) {
			return nil
		}
		return checkNameDoc(t, d.Name, d.Doc)
	case *ast.GenDecl:
		var found []finding
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				found = append(found, checkTypeDoc(t, d, s)...)
			case *ast.ValueSpec:
				found = append(found, checkValueDoc(t, d, s)...)
			}
		}
		return found
	}
	return nil
}

func checkNameDoc(t *tree, name *ast.Ident, doc *ast.CommentGroup) []finding {
	if !name.IsExported() || beginsWith(doc, name.Name) {
		return nil
	}
	return []finding{t.at(name.Pos(), "%s has no doc comment that begins with its name: "+
		"write \"%s ...\" and state the contract", name.Name, name.Name)}
}

// beginsWith reports whether a comment's first word, after an article, is name.
func beginsWith(doc *ast.CommentGroup, name string) bool {
	if doc == nil {
		return false
	}
	words := strings.Fields(doc.Text())
	if len(words) > 1 && slices.Contains([]string{"A", "An", "The"}, words[0]) {
		words = words[1:]
	}
	return len(words) > 0 && strings.TrimSuffix(strings.TrimRight(words[0], ",:;."), "'s") == name
}

// checkTypeDoc accepts the comment of a group for a type that it names.
func checkTypeDoc(t *tree, group *ast.GenDecl, spec *ast.TypeSpec) []finding {
	if spec.Doc == nil && group.Doc != nil && group.Lparen.IsValid() {
		words := strings.FieldsFunc(group.Doc.Text(), func(r rune) bool {
			return strings.ContainsRune(" \n\t.,:;()", r)
		})
		if slices.Contains(words, spec.Name.Name) {
			return nil
		}
	}
	doc := spec.Doc
	if doc == nil && !group.Lparen.IsValid() {
		doc = group.Doc
	}
	return checkNameDoc(t, spec.Name, doc)
}

// checkValueDoc accepts any comment within a documented way of grouping: the group's, the line's
// or the one above. A declaration that stands alone begins with its name.
func checkValueDoc(t *tree, group *ast.GenDecl, spec *ast.ValueSpec) []finding {
	if group.Lparen.IsValid() && (group.Doc != nil || spec.Doc != nil || spec.Comment != nil) {
		return nil
	}
	for _, name := range spec.Names {
		if name.IsExported() {
			return checkNameDoc(t, name, group.Doc)
		}
	}
	return nil
}

// receiverOf is the name of a method's type.
func receiverOf(d *ast.FuncDecl) string {
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			panic(fmt.Sprintf("receiver of %s is a %T", d.Name.Name, e))
		}
	}
}

// checkSizes finds long lines everywhere and long functions outside tests.
func checkSizes(t *tree) []finding {
	var found []finding
	for _, f := range t.files {
		f.lines(func(n int, line string) {
			tabs := strings.Count(line, "\t")
			if columns := utf8.RuneCountInString(line) + tabs*(tabWidth-1); columns > columnsMax {
				found = append(found, finding{f.path, n, fmt.Sprintf("the line has %d columns, "+
					"limit %d: break it, or name a part of it", columns, columnsMax)})
			}
		})
		if !f.isTest {
			found = append(found, checkFuncSizes(t, f)...)
		}
	}
	return found
}

func checkFuncSizes(t *tree, f *file) []finding {
	var found []finding
	measure := func(n ast.Node) {
		lines := t.fset.Position(n.End()).Line - t.fset.Position(n.Pos()).Line + 1
		if lines > linesMax {
			found = append(found, t.at(n.Pos(), "the function has %d lines, limit %d: branch here "+
				"and compute in functions of their own", lines, linesMax))
		}
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			measure(n)
			return false // what is inside is shorter
		case *ast.FuncLit:
			measure(n)
			return false
		}
		return true
	})
	return found
}

// checkExports finds packages that export more names than their room allows.
func checkExports(t *tree, rooms []room) []finding {
	var found []finding
	for dir, p := range t.pkgs {
		r := roomOf(rooms, dir)
		if r == nil || p.Types == nil {
			continue
		}
		limit := r.exports
		if limit == 0 {
			limit = exportsMax
		}
		if names := exportsOf(p.Types); len(names) > limit {
			found = append(found, t.at(t.clause(dir), "the package exports %d names, limit %d: "+
				"keep to itself what no other package uses (%s)", len(names), limit,
				strings.Join(names, " ")))
		}
	}
	return found
}

// exportsOf lists the exported names of a package without enum constants: constants of a type
// that the package defines.
func exportsOf(p *types.Package) []string {
	var names []string
	for _, name := range p.Scope().Names() {
		obj := p.Scope().Lookup(name)
		if c, ok := obj.(*types.Const); ok && named(c.Type()) != nil {
			continue
		}
		if token.IsExported(name) {
			names = append(names, name)
		}
	}
	return names
}
