package oncesim_test

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/packages"
)

// list is an explicit list: a variable or a function without parameters. Its type is a slice of
// what it lists, or a struct whose slices list one kind of value each.
type list struct {
	dir, name string

	obj   types.Object
	elems map[*types.TypeName]bool
	holds map[types.Object]bool // what is reachable from it over lists
	sees  map[string]bool       // the folders whose values it can name: its own and its imports
}

// checkLists finds package-level values that their list does not hold. The list of a value is the
// one of its own package, else the list of lists: any other that lists its type.
func checkLists(t *tree, lists []list) []finding {
	var found []finding
	bodies := bodiesOf(t)
	var known []*list
	for _, l := range lists {
		p := t.pkgs[l.dir]
		if p == nil || p.Types == nil {
			continue
		}
		l.obj = p.Types.Scope().Lookup(l.name)
		if l.obj == nil {
			found = append(found, t.at(t.clause(l.dir), "package %s has no list %s: write one, so "+
				"that everything it offers is run", l.dir, l.name))
			continue
		}
		l.elems = kindsIn(valueType(l.obj))
		l.holds = map[types.Object]bool{}
		l.follow(bodies, l.obj)
		l.sees = map[string]bool{l.dir: true}
		for imported := range p.Imports {
			if dir, ok := t.ours(imported); ok {
				l.sees[dir] = true
			}
		}
		known = append(known, &l)
	}
	for dir, p := range t.pkgs {
		for _, obj := range valuesOf(p) {
			if l := governing(known, dir, obj); l != nil && !l.holds[obj] {
				found = append(found, t.at(obj.Pos(), "%s is in no list: add it to %s in %s",
					obj.Name(), l.name, l.dir))
			}
		}
	}
	return found
}

// governing is the list that must hold obj, or nil. A list of one package must itself be held by
// the list of lists, whether or not that one imports the package yet.
func governing(known []*list, dir string, obj types.Object) *list {
	kind := named(valueType(obj))
	isList := slices.ContainsFunc(known, func(l *list) bool { return l.obj == obj })
	if isList {
		kind, dir = elemOf(valueType(obj)), ""
	}
	var other *list
	for _, l := range known {
		switch {
		case l.obj == obj || !l.elems[kind]:
		case l.dir == dir:
			return l
		case l.sees[dir] || isList:
			other = l
		}
	}
	return other
}

// valuesOf lists the package-level variables and parameterless functions of p.
func valuesOf(p *packages.Package) []types.Object {
	var values []types.Object
	if p.Types == nil {
		return nil
	}
	for _, name := range p.Types.Scope().Names() {
		if obj := p.Types.Scope().Lookup(name); valueType(obj) != nil {
			values = append(values, obj)
		}
	}
	return values
}

// valueType is the type of a variable, or of the one result of a function without parameters;
// nil for other objects.
func valueType(obj types.Object) types.Type {
	switch obj.(type) {
	case *types.Var, *types.Func:
	default:
		return nil
	}
	sig, ok := obj.Type().(*types.Signature)
	if !ok {
		return obj.Type()
	}
	if sig.Params().Len() == 0 && sig.Results().Len() == 1 && sig.TypeParams().Len() == 0 {
		return sig.Results().At(0).Type()
	}
	return nil
}

// elemOf is the defined type that a slice or array lists, or nil.
func elemOf(t types.Type) *types.TypeName {
	if t == nil {
		return nil
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return named(u.Elem())
	case *types.Array:
		return named(u.Elem())
	}
	return nil
}

// kindsIn is the set of types that a slice or array lists, or that the fields of a struct list.
func kindsIn(t types.Type) map[*types.TypeName]bool {
	kinds := map[*types.TypeName]bool{}
	if elem := elemOf(t); elem != nil {
		kinds[elem] = true
	}
	if name := named(t); name != nil {
		if s, ok := name.Type().Underlying().(*types.Struct); ok {
			for field := range s.Fields() {
				if elem := elemOf(field.Type()); elem != nil {
					kinds[elem] = true
				}
			}
		}
	}
	return kinds
}

// body is the declaration of a package-level object and the meaning of the names in it.
type body struct {
	node ast.Node
	info *types.Info
}

func bodiesOf(t *tree) map[types.Object]body {
	bodies := map[types.Object]body{}
	for _, p := range t.pkgs {
		for _, f := range p.Syntax {
			for _, decl := range f.Decls {
				switch d := decl.(type) {
				case *ast.FuncDecl:
					bodies[p.TypesInfo.Defs[d.Name]] = body{d, p.TypesInfo}
				case *ast.GenDecl:
					for _, spec := range d.Specs {
						if s, ok := spec.(*ast.ValueSpec); ok {
							for _, name := range s.Names {
								bodies[p.TypesInfo.Defs[name]] = body{s, p.TypesInfo}
							}
						}
					}
				}
			}
		}
	}
	return bodies
}

// follow collects what the declaration of a list names, and goes on through the lists among it. It
// does not go through values: a mode that another mode is built from is not thereby listed.
func (l *list) follow(bodies map[types.Object]body, from types.Object) {
	b, ok := bodies[from]
	if !ok {
		return
	}
	ast.Inspect(b.node, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		obj := b.info.Uses[id]
		if obj == nil || l.holds[obj] {
			return true
		}
		l.holds[obj] = true
		made := valueType(obj)
		if l.elems[elemOf(made)] || made != nil && named(made) == named(valueType(l.obj)) &&
			named(made) != nil {
			l.follow(bodies, obj)
		}
		return true
	})
}
