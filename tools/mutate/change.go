package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// mutant is one change to the source.
type mutant struct {
	id   int
	at   string // file:line:column, below the root
	what string
}

func (m mutant) String() string { return m.at + ": " + m.what }

// edit replaces source between two offsets of a file.
type edit struct {
	from, to int
	text     string
}

// sleeper is the file that a changed package gets: what wakes a mutant, and what notes which mutants
// have made a difference, or would have if they had been awake.
const sleeper = `package %s

import (
	"cmp"
	"os"
	"strconv"
	"sync/atomic"
)

var mutantAwake = func() int {
	n, err := strconv.Atoi(os.Getenv("MUTANT"))
	if err != nil {
		return -1
	}
	return n
}()

var mutantNotes, _ = os.OpenFile(os.Getenv("MUTANT_NOTES"),
	os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)

var mutantNoted [%d]atomic.Bool

func mutantNote(id int) {
	if mutantNotes != nil && !mutantNoted[id].Swap(true) {
		mutantNotes.WriteString(strconv.Itoa(id) + "\n")
	}
}

func mutantIs(id int) bool {
	mutantNote(id)
	return mutantAwake == id
}

// mutantOrder compares as op says; with the mutant id awake as its opposite, and with the next one as
// what op is when the bound is one further.
func mutantOrder[T cmp.Ordered](id int, op string, a, b T) bool {
	is := cmp.Compare(a, b)
	if is == 0 {
		mutantNote(id + 1)
	}
	isShifted := mutantAwake == id+1
	var result bool
	switch {
	case op == "<" && !isShifted || op == "<=" && isShifted:
		result = is < 0
	case op == "<" || op == "<=":
		result = is <= 0
	case op == ">" && !isShifted || op == ">=" && isShifted:
		result = is > 0
	default:
		result = is >= 0
	}
	return result != mutantIs(id)
}
`

// change makes the mutants of a package and writes its changed files into the overlay.
func (m *mutator) change(pattern string, overlay map[string]string) error {
	pkgs, err := packages.Load(&packages.Config{Dir: m.root, Mode: packages.NeedName |
		packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo |
		packages.NeedImports | packages.NeedDeps, ParseFile: parse}, pattern)
	if err != nil {
		return err
	}
	for _, p := range pkgs {
		if len(p.Errors) > 0 {
			return p.Errors[0]
		}
		for i, file := range p.Syntax {
			path := p.GoFiles[i]
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			c := &changer{m: m, fset: p.Fset, info: p.TypesInfo, text: text}
			ast.Inspect(file, c.visit)
			if err := m.put(path, c.changed(), overlay); err != nil {
				return err
			}
		}
		path := filepath.Join(filepath.Dir(p.GoFiles[0]), "mutants_asleep.go")
		if err := m.put(path, fmt.Appendf(nil, sleeper, p.Name, len(m.mutants)), overlay); err != nil {
			return err
		}
	}
	return nil
}

func parse(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
	return parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
}

// put writes a file that stands in the place of another, or of none.
func (m *mutator) put(path string, text []byte, overlay map[string]string) error {
	instead := filepath.Join(m.dir, fmt.Sprintf("%d_%s", len(overlay), filepath.Base(path)))
	overlay[path] = instead
	return os.WriteFile(instead, text, 0o644)
}

// changer makes the mutants of a file.
type changer struct {
	m     *mutator
	fset  *token.FileSet
	info  *types.Info
	text  []byte
	edits []edit
}

// opposites are what a comparison is turned into.
var opposites = map[token.Token]token.Token{token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LSS: token.GEQ, token.GEQ: token.LSS, token.LEQ: token.GTR, token.GTR: token.LEQ}

// shifted are what an order is turned into besides: its bound is one further.
var shifted = map[token.Token]token.Token{token.LSS: token.LEQ, token.LEQ: token.LSS,
	token.GTR: token.GEQ, token.GEQ: token.GTR}

func (c *changer) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok != token.CONST
	case *ast.BinaryExpr:
		c.binary(n)
	case *ast.IfStmt:
		c.branch(n.Cond, "the branch is never taken")
	case *ast.CaseClause:
		c.clause(n)
	}
	return true
}

// binary turns a comparison into others. Operands are evaluated once, whoever is awake.
func (c *changer) binary(n *ast.BinaryExpr) {
	if opposites[n.Op] == 0 || c.isConstant(n) {
		return
	}
	id := c.add(n, fmt.Sprintf("%s is %s", n.Op, opposites[n.Op]))
	if shifted[n.Op] == 0 {
		c.insert(n.Pos(), fmt.Sprintf("(mutantIs(%d) != (", id))
		c.insert(n.End(), "))")
		return
	}
	c.add(n, fmt.Sprintf("%s is %s", n.Op, shifted[n.Op]))
	c.insert(n.Pos(), fmt.Sprintf("mutantOrder(%d, %q, ", id, n.Op.String()))
	at := c.offset(n.OpPos)
	c.edits = append(c.edits, edit{at, at + len(n.Op.String()), ", "})
	c.insert(n.End(), ")")
}

// clause drops a case of a switch without a tag.
func (c *changer) clause(n *ast.CaseClause) {
	if len(n.List) == 1 && c.isBool(n.List[0]) {
		c.branch(n.List[0], "the case is never taken")
	}
}

// branch keeps a condition from ever being true; it is still evaluated.
func (c *changer) branch(cond ast.Expr, what string) {
	if !c.isBool(cond) || c.isConstant(cond) {
		return
	}
	id := c.add(cond, what)
	c.insert(cond.Pos(), "(")
	c.insert(cond.End(), fmt.Sprintf(") && !mutantIs(%d)", id))
}

func (c *changer) add(n ast.Node, what string) (id int) {
	id = len(c.m.mutants)
	at := c.fset.Position(n.Pos())
	if name, err := filepath.Rel(c.m.root, at.Filename); err == nil {
		at.Filename = filepath.ToSlash(name)
	}
	c.m.mutants = append(c.m.mutants, mutant{id: id, at: at.String(), what: what})
	return id
}

func (c *changer) offset(p token.Pos) int { return c.fset.Position(p).Offset }

func (c *changer) insert(p token.Pos, text string) {
	c.edits = append(c.edits, edit{c.offset(p), c.offset(p), text})
}

func (c *changer) isConstant(n ast.Expr) bool { return c.info.Types[n].Value != nil }

func (c *changer) isBool(n ast.Expr) bool {
	t := c.info.TypeOf(n)
	return t != nil && types.Identical(t.Underlying(), types.Typ[types.Bool]) ||
		t == types.Typ[types.UntypedBool]
}

// changed is the file with all its mutants asleep in it. Of what is inserted at one place, what
// begins there encloses what was inserted for nodes within: outer nodes are visited first, so what
// opens stands in that order, and what closes in the opposite one.
func (c *changer) changed() []byte {
	order := make([]int, len(c.edits))
	for i := range order {
		order[i] = i
	}
	isClosing := func(e edit) bool { return strings.HasSuffix(e.text, ")") }
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := c.edits[a], c.edits[b]
		switch {
		case x.from != y.from:
			return x.from - y.from
		case isClosing(x) != isClosing(y): // what ends here comes before what begins
			if isClosing(x) {
				return -1
			}
			return 1
		case isClosing(x):
			return b - a
		}
		return a - b
	})
	var out bytes.Buffer
	at := 0
	for _, i := range order {
		e := c.edits[i]
		out.Write(c.text[at:e.from])
		out.WriteString(e.text)
		at = e.to
	}
	out.Write(c.text[at:])
	return out.Bytes()
}
