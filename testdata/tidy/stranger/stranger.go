// Package stranger is in no layout.
package stranger
