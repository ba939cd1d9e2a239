// Package unlisted is in a known folder, but not in the layout.
package unlisted // want "package imports/unlisted is not in the layout"
