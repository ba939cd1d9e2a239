package scenarios

import (
	"embed"
	"fmt"
	"io/fs"
)

//go:embed files/*.sim
var embedded embed.FS

// files lists the built-in scenario files in the order of their names.
func files() []File {
	entries, err := fs.ReadDir(embedded, "files")
	if err != nil {
		panic(fmt.Sprintf("scenarios: embedded files: %v", err))
	}
	var list []File
	for _, e := range entries {
		data, err := fs.ReadFile(embedded, "files/"+e.Name())
		if err != nil {
			panic(fmt.Sprintf("scenarios: embedded file %s: %v", e.Name(), err))
		}
		list = append(list, File{Name: e.Name()[:len(e.Name())-len(".sim")], Data: string(data)})
	}
	return list
}
