package simcli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oncesim/oncesim/model"
)

// namesMax is how many names a complaint lists; of more it says where they are listed.
const namesMax = 16

// unknown is the complaint about a name that is none of those.
func unknown(what, name string, names []string) error {
	message := fmt.Sprintf("unknown %s %q", what, name)
	if len(names) <= namesMax {
		message += ", expected one of " + strings.Join(names, ", ")
	}
	if near := model.Nearest(name, names); near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	} else if len(names) > namesMax {
		message += fmt.Sprintf("; %q shows what there is", listOf(what))
	}
	return fail(statusUsage, "%s", message)
}

// listOf is the command that lists what has such names: all lists, where there is none of its own.
func listOf(what string) string {
	for _, plural := range []string{what + "s", what + "es"} {
		if slices.Contains(listNames, plural) {
			return "list " + plural
		}
	}
	return "list"
}
