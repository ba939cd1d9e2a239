package model

import (
	"encoding/binary"
	"fmt"
)

// Codec encodes or restores state: one method a type serves both directions, so that they cannot
// drift apart. The zero Codec encodes; a Codec made by Decoding restores.
//
// The encoding is little endian, the same on every machine, and has no self-description: it is
// for a state that is restored by the same version of the same program. Reading past the end or a
// length out of range is a broken invariant and panics.
type Codec struct {
	buf      []byte
	at       int
	decoding bool
	isFresh  bool              // lists are restored into memory of their own
	texts    map[string]string // isFresh: those restored before, so that each is allocated once
}

// Decoding returns a Codec that restores from data.
func Decoding(data []byte) *Codec { return &Codec{buf: data, decoding: true} }

// Reset makes c encode into its own buffer from the start again.
func (c *Codec) Reset() { c.buf, c.at, c.decoding = c.buf[:0], 0, false }

// Rewind makes c restore what it has encoded.
func (c *Codec) Rewind() { c.at, c.decoding = 0, true }

// Restore makes c restore from data, which stays the caller's. Lists get new memory: whoever holds
// what a list was before keeps what it holds. A process or a service may so be set back any number
// of times.
func (c *Codec) Restore(data []byte) {
	c.buf, c.at, c.decoding, c.isFresh = data, 0, true, true
	if c.texts == nil {
		c.texts = map[string]string{}
	}
}

// IsDecoding reports whether c restores.
func (c *Codec) IsDecoding() bool { return c.decoding }

// Bytes is what was encoded; it is valid until the next Reset.
func (c *Codec) Bytes() []byte { return c.buf }

// Left is the number of bytes not yet restored.
func (c *Codec) Left() int { return len(c.buf) - c.at }

func (c *Codec) take(n int) []byte {
	if n < 0 || c.Left() < n {
		panic(fmt.Sprintf("model: codec wants %d bytes at %d of %d", n, c.at, len(c.buf)))
	}
	b := c.buf[c.at : c.at+n]
	c.at += n
	return b
}

// Int64 encodes or restores *v.
func (c *Codec) Int64(v *int64) {
	if c.decoding {
		*v = int64(binary.LittleEndian.Uint64(c.take(8)))
		return
	}
	c.buf = binary.LittleEndian.AppendUint64(c.buf, uint64(*v))
}

// Int32 encodes or restores *v.
func (c *Codec) Int32(v *int32) {
	wide := int64(*v)
	c.Int64(&wide)
	*v = int32(wide)
}

// Bool encodes or restores *v.
func (c *Codec) Bool(v *bool) {
	var wide int64
	if *v {
		wide = 1
	}
	c.Int64(&wide)
	*v = wide != 0
}

// Text encodes or restores *v.
func (c *Codec) Text(v *string) {
	n := c.Len(len(*v))
	if c.decoding {
		*v = c.text(c.take(n))
		return
	}
	c.buf = append(c.buf, *v...)
}

// textsMax bounds the texts that a codec remembers.
const textsMax = 1 << 12

// text is a restored text.
func (c *Codec) text(b []byte) string {
	if !c.isFresh || len(b) == 0 {
		return string(b)
	}
	if known, ok := c.texts[string(b)]; ok {
		return known
	}
	if len(c.texts) == textsMax {
		clear(c.texts)
	}
	t := string(b)
	c.texts[t] = t
	return t
}

// Len encodes n, or restores a length and returns it.
func (c *Codec) Len(n int) int {
	wide := int64(n)
	c.Int64(&wide)
	if wide < 0 || wide > 1<<31 {
		panic(fmt.Sprintf("model: codec length %d", wide))
	}
	return int(wide)
}

// Value encodes or restores *v.
func (c *Codec) Value(v *Value) {
	c.Int64(&v.Num)
	c.Text(&v.Text)
}

// Record encodes or restores *r.
func (c *Codec) Record(r *Record) {
	path := int64(r.Path)
	c.Int32(&r.ID.Part)
	c.Int64(&r.ID.Offset)
	c.Int64(&path)
	c.Int32(&r.Op)
	c.Text(&r.Key)
	c.Value(&r.Value)
	r.Path = Path(path)
}

// Message encodes or restores *m.
func (c *Codec) Message(m *Message) {
	kind, flags, channel := int32(m.Kind), int32(m.Flags), int32(m.Channel)
	c.Int32(&kind)
	c.Int32(&flags)
	c.Int32(&channel)
	m.Kind, m.Flags, m.Channel = Kind(kind), Flags(flags), int16(channel)
	c.Int32(&m.Attempt)
	c.Int32(&m.Try)
	c.Int64(&m.Seq)
	c.Int64(&m.N)
	c.Int64(&m.Cursor)
	c.Int64(&m.Token)
	c.Record(&m.Record)
	Slice(c, &m.Parts, c.Record)
}

// Slice encodes or restores a slice, item by item.
func Slice[T any](c *Codec, list *[]T, item func(*T)) {
	n := c.Len(len(*list))
	if c.decoding {
		*list = (*list)[:0]
		if c.isFresh {
			*list = fresh[T](n)
		}
		for range n {
			var zero T
			*list = append(*list, zero)
			item(&(*list)[len(*list)-1])
		}
		return
	}
	for i := range *list {
		item(&(*list)[i])
	}
}

// fresh is an empty list with room for n items, and no memory where there are none.
func fresh[T any](n int) []T {
	if n == 0 {
		return nil
	}
	return make([]T, 0, n)
}

// Map encodes or restores a map from text in the order of its keys. keys is scratch space that the
// caller keeps, so that encoding allocates nothing in the steady state.
func Map[T any](c *Codec, m map[string]T, keys *[]string, item func(*T)) {
	n := c.Len(len(m))
	if c.decoding {
		clear(m)
		for range n {
			var key string
			var v T
			c.Text(&key)
			item(&v)
			m[key] = v
		}
		return
	}
	*keys = SortedKeys(m, (*keys)[:0])
	for _, key := range *keys {
		c.Text(&key)
		v := m[key]
		item(&v)
	}
}
