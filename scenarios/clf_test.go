package scenarios

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// joinCLF is the inverse of parseCLF.
func joinCLF(l clfLine) string {
	line := l.Host + " " + l.Ident + " " + l.User + " [" + l.Date + `] "` +
		l.Method + " " + l.Path + " " + l.Proto + `" ` + l.Status + " " + l.Bytes
	if l.Referer != "" || l.Agent != "" {
		line += ` "` + l.Referer + `" "` + l.Agent + `"`
	}
	return line
}

// clfCases are lines in and near the Common Log Format; each bad one is wrong in one way.
var clfCases = []struct {
	title, line string
	ok          bool
}{
	{"a line of the documentation of Apache",
		`127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326`,
		true},
	{"an IPv6 host", `::1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.0" 200 1`, true},
	{"no bytes", `h - - [10/Oct/2000:13:55:36 -0700] "HEAD / HTTP/1.1" 304 -`, true},
	{"HTTP/2", `h - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/2" 200 1`, true},
	{"escaped quote and backslash",
		`h - - [10/Oct/2000:13:55:36 -0700] "GET /\"a\\ HTTP/1.1" 200 1`, true},
	{"escaped bytes", `h - - [10/Oct/2000:13:55:36 -0700] "GET /\x00\n HTTP/1.1" 200 1`, true},
	{"a leap second", `h - - [31/Dec/2016:23:59:60 +0000] "GET / HTTP/1.1" 200 1`, true},
	{"combined format",
		`h - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1 "http://a/" "Mozilla (\"x\")"`,
		true},
	{"combined format without a referrer",
		`h - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1 "-" "x"`, true},
	{"empty line", ``, false},
	{"prose", `It was a dark and stormy night.`, false},
	{"cut off", `h - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200`, false},
	{"cut off in the request", `h - - [10/Oct/2000:13:55:36 -0700] "GET / HTT`, false},
	{"two lines in one",
		`h - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1h - - [10/Oct/2000:13`, false},
	{"no host", ` - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1`, false},
	{"field missing", `h - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1`, false},
	{"two spaces", `h -  - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1`, false},
	{"day out of range", `h - - [32/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1`, false},
	{"day in letters", `h - - [xx/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1`, false},
	{"day before month", `h - - [10-Oct-2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1`, false},
	{"time zone without a sign", `h - - [10/Oct/2000:13:55:36 00700] "GET / HTTP/1.1" 200 1`,
		false},
	{"unknown month", `h - - [10/oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1`, false},
	{"hour out of range", `h - - [10/Oct/2000:24:55:36 -0700] "GET / HTTP/1.1" 200 1`, false},
	{"no time zone", `h - - [10/Oct/2000:13:55:36] "GET / HTTP/1.1" 200 1`, false},
	{"another date", `h - - [2000-10-10T13:55:36Z] "GET / HTTP/1.1" 200 1`, false},
	{"time zone out of range", `h - - [10/Oct/2000:13:55:36 +9900] "GET / HTTP/1.1" 200 1`, false},
	{"no bracket", `h - - 10/Oct/2000:13:55:36 -0700 "GET / HTTP/1.1" 200 1`, false},
	{"no quotes", `h - - [10/Oct/2000:13:55:36 -0700] GET / HTTP/1.1 200 1`, false},
	{"quote that is not escaped",
		`h - - [10/Oct/2000:13:55:36 -0700] "GET /" HTTP/1.1" 200 1`, false},
	{"empty request", `h - - [10/Oct/2000:13:55:36 -0700] "-" 408 -`, false},
	{"method in small letters", `h - - [10/Oct/2000:13:55:36 -0700] "get / HTTP/1.1" 200 1`, false},
	{"no protocol", `h - - [10/Oct/2000:13:55:36 -0700] "GET /" 200 1`, false},
	{"space in the path", `h - - [10/Oct/2000:13:55:36 -0700] "GET /a b HTTP/1.1" 200 1`, false},
	{"status of two digits", `h - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 20 1`, false},
	{"status out of range", `h - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 600 1`, false},
	{"bytes in words", `h - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 many`, false},
	{"negative bytes", `h - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 -1`, false},
	{"bytes of 19 digits",
		`h - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1000000000000000000`, false},
	{"space at the end", `h - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1 `, false},
	{"half of the combined format",
		`h - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1 "-"`, false},
	{"control character",
		"h - - [10/Oct/2000:13:55:36 -0700] \"GET /\x01 HTTP/1.1\" 200 1", false},
}

func TestCLF(t *testing.T) {
	for _, c := range clfCases {
		t.Run(c.title, func(t *testing.T) {
			l, ok := parseCLF(c.line)
			require.Equal(t, c.ok, ok)
			if ok {
				assert.Equal(t, c.line, joinCLF(l))
			} else {
				assert.Zero(t, l)
			}
			assert.Equal(t, c.ok, CLF.Valid(c.line))
			assert.True(t, Lines.Valid(c.line))
		})
	}
}

func TestCLF_Fields(t *testing.T) {
	l, ok := parseCLF(`10.0.0.1 id frank [10/Oct/2000:13:55:36 -0700] ` +
		`"GET /a?b HTTP/1.0" 200 2326 "r" "u a"`)
	require.True(t, ok)
	assert.Equal(t, clfLine{Host: "10.0.0.1", Ident: "id", User: "frank",
		Date: "10/Oct/2000:13:55:36 -0700", Method: "GET", Path: "/a?b", Proto: "HTTP/1.0",
		Status: "200", Bytes: "2326", Referer: "r", Agent: "u a"}, l)
}

func TestCLF_DoesNotAllocate(t *testing.T) {
	line := textLines(accessLog)[0]
	assert.Zero(t, testing.AllocsPerRun(100, func() { parseCLF(line) }))
}

func BenchmarkCLF(b *testing.B) {
	line := textLines(accessLog)[0]
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		parseCLF(line)
	}
}
