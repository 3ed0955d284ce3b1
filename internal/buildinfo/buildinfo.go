// Package buildinfo knows which build of Refit this is.
package buildinfo

// Version is the product's version, set by the linker; "dev" for a build without it.
var Version = "dev"
