package determinism

import "iter"

type mailbox = chan int // want "a goroutine or channel"

func goroutines(in <-chan int, m mailbox) { // want "a goroutine or channel"
	go goroutines(in, m) // want "a goroutine or channel"
	m <- 1               // want "a goroutine or channel"
	_ = <-in             // want "a goroutine or channel"
	select {}            // want "a goroutine or channel"
}

func ranges(m mailbox) { // want "a goroutine or channel"
	for range m { // want "a goroutine or channel"
	}
	close(m) // want "a goroutine or channel"
}

func pulls(seq iter.Seq[int]) {
	_, _ = iter.Pull(seq) // want "the core must not use iter.Pull: range over the sequence"
}
