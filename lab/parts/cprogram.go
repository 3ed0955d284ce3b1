package parts

import (
	"context"
	_ "embed"
	"os"
	"path/filepath"
)

//go:embed pause/pause.c
var pauseSource string

// cProgram builds one static C program from one file.
type cProgram struct {
	Source, Program string
}

func (c cProgram) build(ctx context.Context, j *job) error {
	source := filepath.Join(j.work, c.Program+".c")
	if err := os.WriteFile(source, []byte(c.Source), 0o644); err != nil {
		return err
	}
	return j.run(ctx, command{name: "gcc", args: []string{"-Os", "-static", "-s", "-Wall", "-o",
		filepath.Join(j.dir, c.Program), source}})
}
