// Package empty has no list.
package empty // want "package lists/empty has no list All: write one"
