package oncesim_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// checkFolders finds packages and top-level folders that the layout does not know.
func checkFolders(t *tree, rooms []room, others string) []finding {
	known := append(strings.Fields(others), ".")
	for _, r := range rooms {
		top, _, _ := strings.Cut(r.dir, "/")
		known = append(known, top)
	}
	var found []finding
	for _, dir := range t.folders {
		if !slices.Contains(known, dir) {
			found = append(found, finding{path: dir, message: "this folder is not in the layout: " +
				"say in DESIGN.md why it exists, then give it a line in tidy_test.go"})
		}
	}
	for _, dir := range t.dirs() {
		if roomOf(rooms, dir) == nil && slices.Contains(known, strings.Split(dir, "/")[0]) {
			found = append(found, t.at(t.clause(dir), "package %s is not in the layout: "+
				"say in tidy_test.go what it may import", dir))
		}
	}
	return found
}

func roomOf(rooms []room, dir string) *room {
	for i := range rooms {
		if rooms[i].dir == dir {
			return &rooms[i]
		}
	}
	return nil
}

// checkImports finds imports that the layout does not allow. It looks at syntax only, so that
// files for other platforms are seen too.
func checkImports(t *tree, rooms []room, outsideTests string) []finding {
	var found []finding
	for _, f := range t.files {
		r := roomOf(rooms, f.dir)
		if r == nil {
			continue // checkFolders has said so
		}
		ours, outside := strings.Fields(r.may), strings.Fields(r.outside)
		if f.isTest {
			ours = append(ours, strings.Fields(r.tests)...)
			ours = append(ours, r.dir)
			outside = append(outside, strings.Fields(outsideTests)...)
		}
		for _, spec := range f.syntax.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				panic(fmt.Sprintf("import path %s", spec.Path.Value))
			}
			if message := judgeImport(t, f, imported, ours, outside); message != "" {
				found = append(found, t.at(spec.Pos(), "%s", message))
			}
		}
	}
	return found
}

// judgeImport says what is wrong with an import, or "".
func judgeImport(t *tree, f *file, imported string, ours, outside []string) string {
	dir, isOurs := t.ours(imported)
	first, _, _ := strings.Cut(imported, "/")
	switch {
	case isOurs && !slices.Contains(ours, dir):
		may := "nothing of ours"
		if len(ours) > 0 {
			may = "only " + strings.Join(ours, ", ")
		}
		return fmt.Sprintf("%s must not import %s: it knows %s; move what both need to the model, "+
			"or join them in scenarios", f.dir, dir, may)
	case isOurs || !strings.Contains(first, "."):
		return ""
	case !slices.Contains(outside, imported):
		return fmt.Sprintf("%s must not import %s: do without, or give the reason in DESIGN.md "+
			"and allow it in tidy_test.go", f.dir, imported)
	}
	return ""
}
