package scenarios

import (
	"fmt"
	"strings"

	"github.com/oncesim/oncesim/model"
)

// unknown says of a name that is none of those: it, what was expected and what was perhaps meant.
func unknown(name string, names []string) string {
	const limit = 16
	known := strings.Join(names[:min(len(names), limit)], ", ")
	switch {
	case len(names) == 0:
		known = "nothing, for there are none"
	case len(names) > limit:
		known += ", …"
	}
	message := fmt.Sprintf("%q, expected %s", clip(name), known)
	if near := model.Nearest(name, names); near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	}
	return message
}
