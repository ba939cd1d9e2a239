// Package compiles does not.
package compiles

var broken = undefined // want "undefined: undefined"
