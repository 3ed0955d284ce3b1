// Package parts builds every program a lab's cluster consists of, from the Go module proxy and Debian's packages, once,
// into the user's cache folder.
package parts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"time"
)

// Part is one thing to build: the programs of a Go module, a C program, or a root file system.
type Part struct {
	// Name and Version say which part it is, e.g. "kubernetes" and "v1.36.3".
	Name, Version string
	// Files are the files that the build leaves in the part's folder.
	Files []string
	// Cost is what a cold build takes on two cores; only the display of what is left uses it.
	Cost time.Duration
	// Packages are Debian packages that the build needs on this machine.
	Packages []string
	// recipe makes the files in job.Dir.
	recipe recipe
	// official is the folder of the makers' own build of the files below a mirror's URL; empty where there is none.
	official string
}

// recipe knows how to make a part. Its JSON form is part of the cache key: a changed recipe is built anew.
type recipe interface {
	build(ctx context.Context, job *job) error
}

// job is one build under way.
type job struct {
	// dir receives the part's files.
	dir string
	// work is a scratch folder, removed afterwards.
	work string
	// note shows in what state the build is, e.g. "812 packages".
	note func(string)
	// run executes a command with its output in the part's log.
	run func(ctx context.Context, c command) error
}

// String is the part's name in messages: "kubernetes v1.36.3".
func (p Part) String() string { return p.Name + " " + p.Version }

// key tells apart builds of the same part by different recipes.
func (p Part) key() string {
	text, err := json.Marshal(struct {
		Files  []string
		Recipe recipe
	}{p.Files, p.recipe})
	if err != nil {
		panic("a recipe is plain data: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

// folder is where the part lies below the cache's root.
func (p Part) folder() string { return filepath.Join(p.Name, p.Version+"-"+p.key()) }
