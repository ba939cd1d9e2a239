package scenarios

import "strings"

// CLF is the decoder of access logs.
var CLF = Decoder{
	Name:  "clf",
	Says:  "access logs of web servers in Common Log Format, combined or not",
	Valid: func(line string) bool { _, ok := parseCLF(line); return ok },
}

// Lines is the decoder of plain text: every line is well formed.
var Lines = Decoder{
	Name:  "lines",
	Says:  "plain text, a record a line",
	Valid: func(string) bool { return true },
}

// clfLine is a line of an access log in the Common Log Format,
//
//	Host Ident User [Date] "Method Path Proto" Status Bytes
//
// or in the combined format, which adds "Referer" and "Agent" in quotes. The fields are slices of
// the line, without brackets and quotes but with the escapes that they have there.
//
// The format is that of the CERN server (W3C, "Logging Control in W3C httpd"). What a request may
// hold is taken from Apache's mod_log_config: a quote and a backslash are escaped by a backslash,
// control characters are escaped too. So a line with a raw one was not written in one piece.
// Status is 100 to 599 (RFC 9110, section 15); Bytes is a number, or "-" for none.
type clfLine struct {
	Host, Ident, User   string
	Date                string // 17/May/2015:10:05:03 +0000
	Method, Path, Proto string
	Status, Bytes       string
	Referer, Agent      string // "" in the Common Log Format proper
}

// parseCLF splits a line without its end; ok is false where it is malformed. It allocates nothing.
func parseCLF(line string) (l clfLine, ok bool) {
	for i := range len(line) {
		if line[i] < ' ' || line[i] == 0x7f {
			return clfLine{}, false
		}
	}
	s := clfScanner{rest: line}
	l.Host = s.until(' ')
	l.Ident = s.until(' ')
	l.User = s.until(' ')
	l.Date = s.bracketed()
	s.skip(' ')
	request := clfScanner{rest: s.quoted()}
	l.Method = request.until(' ')
	l.Path = request.until(' ')
	l.Proto = request.rest
	s.skip(' ')
	l.Status = s.until(' ')
	l.Bytes = s.word()
	if s.rest != "" {
		s.skip(' ')
		l.Referer = s.quoted()
		s.skip(' ')
		l.Agent = s.quoted()
	}
	ok = !s.failed && !request.failed && s.rest == "" && isCLFDate(l.Date) && isMethod(l.Method) &&
		isProto(l.Proto) && isStatus(l.Status) && isCount(l.Bytes)
	if !ok {
		return clfLine{}, false
	}
	return l, true
}

// clfScanner cuts fields off the front of a line.
type clfScanner struct {
	rest   string
	failed bool
}

// until cuts a field that is not empty and the separator behind it.
func (s *clfScanner) until(separator byte) string {
	end := strings.IndexByte(s.rest, separator)
	if end <= 0 {
		s.failed = true
	}
	if end < 0 {
		return ""
	}
	field := s.rest[:end]
	s.rest = s.rest[end+1:]
	return field
}

// word cuts what comes before the next space or the end.
func (s *clfScanner) word() string {
	end := 0
	for end < len(s.rest) && s.rest[end] != ' ' {
		end++
	}
	field := s.rest[:end]
	s.rest = s.rest[end:]
	return field
}

func (s *clfScanner) skip(c byte) {
	if s.rest == "" || s.rest[0] != c {
		s.failed = true
		return
	}
	s.rest = s.rest[1:]
}

func (s *clfScanner) bracketed() string {
	s.skip('[')
	return s.until(']')
}

// quoted cuts a string in double quotes; a backslash escapes the character behind it.
func (s *clfScanner) quoted() string {
	s.skip('"')
	// Up to the first quote or backslash, whichever comes first, there is nothing to look at.
	plain := max(strings.IndexByte(s.rest, '"'), 0)
	if escape := strings.IndexByte(s.rest[:plain], '\\'); escape >= 0 {
		plain = escape
	}
	for i := plain; i < len(s.rest); i++ {
		switch s.rest[i] {
		case '\\':
			i++
		case '"':
			field := s.rest[:i]
			s.rest = s.rest[i+1:]
			return field
		}
	}
	s.failed = true
	return ""
}

// isCLFDate checks the shape 17/May/2015:10:05:03 +0000 and the range of each number. Which month
// has how many days is not checked.
func isCLFDate(date string) bool {
	const shape = "00/Aaa/0000:00:00:00 +0000"
	if len(date) != len(shape) {
		return false
	}
	for i := range len(shape) {
		c := date[i]
		switch shape[i] {
		case '0':
			if !isDigit(c) {
				return false
			}
		case '+':
			if c != '+' && c != '-' {
				return false
			}
		case 'A', 'a':
		default:
			if c != shape[i] {
				return false
			}
		}
	}
	day, hour, minute, second := two(date, 0), two(date, 12), two(date, 15), two(date, 18)
	return day >= 1 && day <= 31 && isMonth(date[3:6]) && hour <= 23 && minute <= 59 &&
		second <= 60 && two(date, 22) <= 14 && two(date, 24) <= 59
}

// two is the number of two digits at i.
func two(s string, i int) int { return int(s[i]-'0')*10 + int(s[i+1]-'0') }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isMonth(name string) bool {
	switch name {
	case "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec":
		return true
	}
	return false
}

// isMethod checks that a method is a token of capital letters and hyphens. HTTP allows more, no
// server sees it.
func isMethod(method string) bool {
	for i := range len(method) {
		if c := method[i]; (c < 'A' || c > 'Z') && c != '-' {
			return false
		}
	}
	return method != ""
}

// isProto accepts HTTP/1.1 and, as proxies and newer servers write it, HTTP/2.
func isProto(proto string) bool {
	if len(proto) < len("HTTP/1") || proto[:5] != "HTTP/" || !isDigit(proto[5]) {
		return false
	}
	rest := proto[6:]
	return rest == "" || len(rest) == 2 && rest[0] == '.' && isDigit(rest[1])
}

func isStatus(status string) bool {
	return len(status) == 3 && status[0] >= '1' && status[0] <= '5' && isDigit(status[1]) &&
		isDigit(status[2])
}

// isCount accepts "-" and what an int64 is sure to hold.
func isCount(count string) bool {
	for i := range len(count) {
		if !isDigit(count[i]) {
			return count == "-"
		}
	}
	return count != "" && len(count) <= 18
}
