package parts

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
)

// goModule builds main packages of a published module, also of one whose go.mod has replace directives, which
// `go install module@version` refuses: a wrapper module requires it, and repeats the replacements.
type goModule struct {
	// Module and Version are the module to build from.
	Module, Version string
	// Siblings are modules of the same release, required at the same version.
	Siblings []string `json:",omitempty"`
	// StagedAt is the version that modules replaced by a local folder of Module have on the proxy.
	StagedAt string `json:",omitempty"`
	// Programs maps the file to make to the package that it is made from.
	Programs map[string]string
	// Tags are build tags.
	Tags string `json:",omitempty"`
	// LDFlags are linker flags, on top of leaving the symbols out.
	LDFlags string `json:",omitempty"`
	// CGO links with C libraries; without it the programs are static.
	CGO bool `json:",omitempty"`
}

func (g goModule) build(ctx context.Context, j *job) error {
	j.note("downloading the source")
	if err := g.writeWrapper(ctx, j); err != nil {
		return fmt.Errorf("wrap %s: %w", g.Module, err)
	}
	out := filepath.Join(j.work, "out") + string(filepath.Separator)
	args := []string{"build", "-v", "-trimpath", "-gcflags=all=-dwarf=false", "-ldflags=-s -w " + g.LDFlags, "-o", out}
	if g.Tags != "" {
		args = append(args, "-tags", g.Tags)
	}
	for _, pkg := range g.Programs {
		args = append(args, pkg)
	}
	count := &packageCounter{note: j.note}
	if err := j.run(ctx, command{name: "go", args: args, dir: j.work, env: g.environment(), stderr: count}); err != nil {
		return err
	}
	for file, pkg := range g.Programs {
		if err := os.Rename(filepath.Join(out, programName(pkg)), filepath.Join(j.dir, file)); err != nil {
			return err
		}
	}
	return nil
}

// programName is what the go tool calls the program made from a package: its last element that is no major version.
func programName(pkg string) string {
	base := filepath.Base(pkg)
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" {
		return filepath.Base(filepath.Dir(pkg))
	}
	return base
}

func (g goModule) environment() []string {
	cgo := "0"
	if g.CGO {
		cgo = "1"
	}
	// A lazier garbage collector saves a tenth of the compiler's time, and memory is not what is short here.
	return []string{"GOFLAGS=-mod=mod", "GOWORK=off", "GOTOOLCHAIN=local", "CGO_ENABLED=" + cgo, "GOGC=400"}
}

// writeWrapper makes a module around g.Module in the work folder.
func (g goModule) writeWrapper(ctx context.Context, j *job) error {
	var f modfile.File
	if err := f.AddModuleStmt("refit.dev/lab/wrapper"); err != nil {
		return err
	}
	for _, m := range append([]string{g.Module}, g.Siblings...) {
		if err := f.AddRequire(m, g.Version); err != nil {
			return err
		}
	}
	theirs, err := g.theirGoMod(ctx, j)
	if err != nil {
		return err
	}
	if theirs.Go != nil {
		if err := f.AddGoStmt(theirs.Go.Version); err != nil {
			return err
		}
	}
	for _, r := range theirs.Replace {
		path, version := r.New.Path, r.New.Version
		if version == "" { // a folder of their repository
			if g.StagedAt == "" {
				continue
			}
			path, version = r.Old.Path, g.StagedAt
		}
		if err := f.AddReplace(r.Old.Path, r.Old.Version, path, version); err != nil {
			return err
		}
	}
	text, err := f.Format()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(j.work, "go.mod"), text, 0o644)
}

// theirGoMod reads the go.mod of the module to build.
func (g goModule) theirGoMod(ctx context.Context, j *job) (*modfile.File, error) {
	var out strings.Builder
	c := command{name: "go", args: []string{"mod", "download", "-json", g.Module + "@" + g.Version}, dir: j.work,
		env: g.environment(), stdout: &out}
	if err := j.run(ctx, c); err != nil {
		return nil, err
	}
	var download struct{ GoMod, Error string }
	if err := json.Unmarshal([]byte(out.String()), &download); err != nil {
		return nil, err
	}
	if download.Error != "" {
		return nil, fmt.Errorf("download %s@%s: %s", g.Module, g.Version, download.Error)
	}
	text, err := os.ReadFile(download.GoMod)
	if err != nil {
		return nil, err
	}
	return modfile.Parse(download.GoMod, text, nil)
}

// packageCounter counts the packages that `go build -v` names.
type packageCounter struct {
	note func(string)
	n    int
}

func (c *packageCounter) Write(p []byte) (int, error) {
	s := bufio.NewScanner(strings.NewReader(string(p)))
	for s.Scan() {
		if line := s.Text(); line != "" && !strings.HasPrefix(line, "go: ") {
			c.n++
			c.note(fmt.Sprintf("%d packages compiled", c.n))
		}
	}
	return len(p), nil
}
