package scenarios

import _ "embed" // for the sample

//go:embed sample/access.log
var accessLog string

//go:embed sample/ORIGIN.md
var accessLogOrigin string

// samples lists the embedded inputs. access.log is a thousand requests to a public web site, in the
// order in which a server wrote them, which is not quite that of their times.
func samples() []Sample {
	return []Sample{{Name: "access.log", Origin: accessLogOrigin, Data: accessLog}}
}
