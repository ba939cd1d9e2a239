package scenarios

import (
	"fmt"
	"slices"
	"strings"
)

// quote writes a text so that every reader of YAML reads that text: as it is where it is plainly
// a word, and else in double quotes. isBlock says that it stands outside brackets, where a few
// more characters are plain.
func quote(text string, isBlock bool) string {
	if isPlain(text, isBlock) {
		return text
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < 0x100 && isYAMLSpecial(c):
			fmt.Fprintf(&b, `\x%02x`, c)
		case isYAMLSpecial(c):
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// isPlain keeps far inside of what YAML allows: words of ASCII that begin with a letter and are no
// constant of any version of YAML, and small numbers.
func isPlain(text string, isBlock bool) bool {
	if text == "0" || len(text) < 10 && text != "" && text[0] != '0' &&
		strings.Trim(text, "0123456789") == "" {
		return true
	}
	if text == "" || !isLetter(text[0]) || text[len(text)-1] == ' ' || isConstant(text) {
		return false
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		isInner := i+1 < len(text) && text[i+1] != ' '
		switch {
		case isLetter(c) || c >= '0' && c <= '9' || strings.IndexByte(" _-./+=@", c) >= 0:
		case isBlock && strings.IndexByte("|,()", c) >= 0:
		case isBlock && c == ':' && isInner:
		default:
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// isConstant reports whether a version of YAML reads a word as something else than text.
func isConstant(text string) bool {
	constants := []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"}
	return slices.Contains(constants, strings.ToLower(text))
}
