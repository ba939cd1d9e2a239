package faults

import (
	"fmt"
	"strconv"
	"strings"
)

// unit is a unit of virtual time: a power of ten of ns.
type unit struct {
	name   string
	ns     int64
	places int // decimal places down to 1 ns
}

// units from the longest on. There is nothing above the second: no run is that long, and "m" is
// too easily read as milli.
func units() [4]unit {
	return [...]unit{{"s", 1_000_000_000, 9}, {"ms", 1_000_000, 6}, {"us", 1_000, 3}, {"ns", 1, 0}}
}

// durationMax bounds what is read, 1000000s: well beyond any run, and so far below what an int64
// holds that the world may add durations without looking.
const durationMax = 1_000_000 * 1_000_000_000

// ParseDuration reads virtual time as fault lines and scenario files write it ("80ms", "1.5s",
// "300us", "7ns") and returns it in ns. ok is false for anything else: no unit, a sign, a part of
// a nanosecond, more than 1000000s.
func ParseDuration(s string) (ns int64, ok bool) {
	n := digits(s)
	whole, fraction, name := s[:n], "", s[n:]
	if strings.HasPrefix(name, ".") {
		n = digits(name[1:])
		if n == 0 {
			return 0, false
		}
		fraction, name = name[1:1+n], name[1+n:]
	}
	for _, u := range units() {
		if u.name == name {
			return u.scale(whole, fraction)
		}
	}
	return 0, false
}

// scale returns whole.fraction of u in ns.
func (u unit) scale(whole, fraction string) (ns int64, ok bool) {
	n, ok := parseNumber(whole, durationMax/u.ns)
	if !ok {
		return 0, false
	}
	fraction = strings.TrimRight(fraction, "0")
	if len(fraction) > u.places {
		return 0, false
	}
	// The padding to a whole number of ns is what makes the decimal point disappear.
	fraction += strings.Repeat("0", u.places-len(fraction))
	part, _ := strconv.ParseInt("0"+fraction, 10, 64)
	ns = n*u.ns + part
	return ns, ns <= durationMax
}

// FormatDuration writes virtual time exactly, in the longest unit that it holds one of: "1.5s",
// not "1500ms". ParseDuration reads it back where it reads such durations at all.
func FormatDuration(ns int64) string {
	if ns == 0 {
		return "0s"
	}
	sign, n := "", uint64(ns)
	if ns < 0 {
		sign, n = "-", -n
	}
	all := units()
	i := 0
	for n < uint64(all[i].ns) {
		i++
	}
	u := all[i]
	whole, part := n/uint64(u.ns), n%uint64(u.ns)
	if part == 0 {
		return fmt.Sprintf("%s%d%s", sign, whole, u.name)
	}
	fraction := strings.TrimRight(fmt.Sprintf("%0*d", u.places, part), "0")
	return fmt.Sprintf("%s%d.%s%s", sign, whole, fraction, u.name)
}
