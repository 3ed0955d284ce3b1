package parts

import (
	"context"
	_ "embed"
	"os"
	"path/filepath"
	"time"
)

//go:embed webapp/main.go
var webAppSource string

// WebApp is the small web application that demos and tests run in the cluster.
func WebApp() Part {
	return Part{Name: "webapp", Version: "v1", Files: []string{"webapp"}, Cost: 5 * time.Second,
		recipe: goSource{Source: webAppSource, Program: "webapp"}}
}

// goSource builds one static program from one file that needs nothing but the standard library.
type goSource struct {
	Source, Program string
}

func (g goSource) build(ctx context.Context, j *job) error {
	for name, text := range map[string]string{"main.go": g.Source, "go.mod": "module refit.dev/lab/" + g.Program + "\n\ngo 1.26\n"} {
		if err := os.WriteFile(filepath.Join(j.work, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return j.run(ctx, command{name: "go", args: []string{"build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(j.dir, g.Program), "."},
		dir: j.work, env: []string{"CGO_ENABLED=0", "GOWORK=off", "GOTOOLCHAIN=local", "GOFLAGS="}})
}
