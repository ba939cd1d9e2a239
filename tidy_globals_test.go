package oncesim_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// checkGlobals finds package-level state in dirs: a variable there is a table, written out where
// it is declared, and nobody in the whole tree changes it. What is changed through an alias (a
// slice or pointer taken out of a table) is beyond this rule.
func checkGlobals(t *tree, dirs []string) []finding {
	var found []finding
	tables := map[types.Object]bool{}
	for _, dir := range dirs {
		if p := t.pkgs[dir]; p != nil {
			found = append(found, checkTables(t, p, tables)...)
		}
	}
	for _, p := range t.pkgs {
		for _, f := range p.Syntax {
			for _, decl := range f.Decls {
				w := writes{t: t, info: p.TypesInfo, tables: tables}
				w.inFunc = !isTableDecl(decl)
				ast.Inspect(decl, w.visit)
				found = append(found, w.found...)
			}
		}
	}
	return found
}

// checkTables collects the package-level variables of p and finds those that are no tables.
func checkTables(t *tree, p *packages.Package, tables map[types.Object]bool) []finding {
	var found []finding
	for _, f := range p.Syntax {
		for _, decl := range f.Decls {
			g, ok := decl.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, spec := range g.Specs {
				found = append(found, checkVar(t, p.TypesInfo, spec.(*ast.ValueSpec), tables)...)
			}
		}
	}
	return found
}

func checkVar(t *tree, info *types.Info, spec *ast.ValueSpec, tables map[types.Object]bool,
) []finding {
	var found []finding
	for i, name := range spec.Names {
		tables[info.Defs[name]] = true
		isTable := len(spec.Values) == len(spec.Names) && isTable(info, spec.Values[i])
		if name.Name != "_" && !isTable {
			found = append(found, t.at(name.Pos(), "%s is package-level state: "+
				"make it a constant, a function, a literal table or a field", name.Name))
		}
	}
	return found
}

// isTable reports whether e is a literal, or an error made on the spot.
func isTable(info *types.Info, e ast.Expr) bool {
	if call, ok := e.(*ast.CallExpr); ok {
		name := calleeOf(info, call)
		return name == "errors.New" || name == "fmt.Errorf"
	}
	return isLiteral(e)
}

// isTableDecl reports whether decl is a table itself: no function, or one that only returns a
// literal. Tables may refer to tables.
func isTableDecl(decl ast.Decl) bool {
	d, ok := decl.(*ast.FuncDecl)
	if !ok {
		return true
	}
	if d.Recv != nil || d.Body == nil || len(d.Body.List) != 1 {
		return false
	}
	r, ok := d.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(r.Results) != 1 {
		return false
	}
	return isLiteral(r.Results[0])
}

// isLiteral reports whether e is a literal of an array, slice, map or struct, or the address of
// one.
func isLiteral(e ast.Expr) bool {
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = u.X
	}
	_, ok := ast.Unparen(e).(*ast.CompositeLit)
	return ok
}

// calleeOf is the full name of the function that a call names, or "".
func calleeOf(info *types.Info, call *ast.CallExpr) string {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if sel, isSel := ast.Unparen(call.Fun).(*ast.SelectorExpr); isSel {
		id, ok = sel.Sel, true
	}
	if !ok {
		return ""
	}
	switch obj := info.Uses[id].(type) {
	case *types.Builtin:
		return obj.Name()
	case *types.Func:
		return obj.FullName()
	}
	return ""
}

// writes collects the places where a table is changed or its address is handed out.
type writes struct {
	t      *tree
	info   *types.Info
	tables map[types.Object]bool
	inFunc bool // within code, as opposed to a table
	found  []finding
}

func (w *writes) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncLit:
		if !w.inFunc {
			w.inFunc = true
			ast.Inspect(n.Body, w.visit)
			w.inFunc = false
			return false
		}
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			w.change(n.Lhs...)
		}
	case *ast.IncDecStmt:
		w.change(n.X)
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			w.change(n.Key, n.Value)
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND && w.inFunc {
			w.report(n.X, "its address is taken: make it a function, or copy it")
		}
	case *ast.SelectorExpr:
		if w.takesAddress(n) {
			w.report(n.X, "a method with a pointer receiver is called on it: make it a function")
		}
	case *ast.CallExpr:
		if len(n.Args) > 0 && changesArgument(calleeOf(w.info, n)) {
			w.change(n.Args[0])
		}
	}
	return true
}

func (w *writes) change(list ...ast.Expr) {
	for _, e := range list {
		w.report(e, "it is changed: keep what varies in a field of the world")
	}
}

func (w *writes) report(e ast.Expr, what string) {
	if id := rootOf(w.info, e); id != nil && w.tables[w.info.Uses[id]] {
		w.found = append(w.found, w.t.at(e.Pos(), "%s is a package-level table and %s",
			id.Name, what))
	}
}

// takesAddress reports whether sel is a method with a pointer receiver on an addressable value.
func (w *writes) takesAddress(sel *ast.SelectorExpr) bool {
	s := w.info.Selections[sel]
	if s == nil || s.Kind() != types.MethodVal || s.Indirect() {
		return false
	}
	sig, ok := s.Obj().Type().(*types.Signature)
	if !ok {
		return false
	}
	_, byPointer := sig.Recv().Type().(*types.Pointer)
	_, isPointer := s.Recv().Underlying().(*types.Pointer)
	return byPointer && !isPointer
}

// changesArgument reports whether a function changes what its first argument holds.
func changesArgument(callee string) bool {
	switch {
	case slices.Contains([]string{"clear", "copy", "delete", "maps.Copy"}, callee):
		return true
	case strings.HasPrefix(callee, "sort."):
		return !strings.HasPrefix(callee, "sort.Search") && !strings.Contains(callee, "AreSorted")
	}
	for _, verb := range []string{"Sort", "Reverse", "Delete", "Insert", "Compact", "Replace"} {
		if strings.HasPrefix(callee, "slices."+verb) {
			return true
		}
	}
	return false
}

// rootOf is the variable that e is a part of: table for table[i].field, or nil.
func rootOf(info *types.Info, e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.ParenExpr:
		return rootOf(info, e.X)
	case *ast.IndexExpr:
		return rootOf(info, e.X)
	case *ast.SliceExpr:
		return rootOf(info, e.X)
	case *ast.StarExpr:
		return rootOf(info, e.X)
	case *ast.SelectorExpr:
		if info.Selections[e] == nil {
			return e.Sel // qualified by a package
		}
		return rootOf(info, e.X)
	}
	return nil
}

// checkInits finds init functions, tests included: what a package knows stands in its lists, not
// in the order of its imports.
func checkInits(t *tree) []finding {
	var found []finding
	for _, f := range t.files {
		for _, decl := range f.syntax.Decls {
			d, ok := decl.(*ast.FuncDecl)
			if ok && d.Recv == nil && d.Name.Name == "init" {
				found = append(found, t.at(d.Pos(),
					"an init function: put the value in an explicit list, or make it a function"))
			}
		}
	}
	return found
}
