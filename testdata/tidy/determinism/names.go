// Package determinism breaks the contract in every way that the rule knows.
package determinism

import (
	"fmt"
	"log" // want "the core must not import log: do without"
	"maps"
	. "sync" // want "the core must not import sync: a run lives on one goroutine"
	clock "time"
	"unsafe" // want "the core must not import unsafe: write it with plain types"

	_ "crypto/rand"  // want "must not import crypto/rand: draw with model.Draw"
	_ "hash/maphash" // want "must not import hash/maphash: hash with model.HashText"
	_ "math/rand"    // want "must not import math/rand: draw with model.Draw"
	_ "math/rand/v2" // want "must not import math/rand/v2: draw with model.Draw"
	_ "os"           // want "must not import os: take the value as an argument"
	_ "reflect"      // want "must not import reflect: write the cases out"
	_ "runtime"      // want "must not import runtime: nothing of the machine"
	_ "sync/atomic"  // want "must not import sync/atomic: a run lives on one goroutine"
)

type lock = Mutex // want "the core must not use sync.Mutex"

func names(m map[string]int, l *lock) {
	l.Lock()         // want "the core must not use sync.Lock"
	now := clock.Now // want "the core must not use time.Now: a process sets timers"
	_ = now().UnixNano()
	clock.Sleep(clock.Second) // want "the core must not use time.Sleep"
	fmt.Println("out")        // want "the core must not use fmt.Println: return the text"
	println("err")            // want "the core must not use println: return the text"
	log.Print("err")          // want "the core must not use log.Print"
	_ = unsafe.Pointer(l)     // want "the core must not use unsafe.Pointer"
	for range maps.Keys(m) {  // want "the core must not use maps.Keys: go through model.SortedKeys"
	}
	_, _, _ = maps.Clone(m), fmt.Sprint(m), clock.Duration(1)
}
