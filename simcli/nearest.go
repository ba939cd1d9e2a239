package simcli

import (
	"fmt"
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
		message += "; \"list\" shows what there is"
	}
	return fail(statusUsage, "%s", message)
}
