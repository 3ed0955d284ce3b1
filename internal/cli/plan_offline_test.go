package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// The examples of the documentation are read, and nothing else than what is told is wrong with them.
func TestTheExamplesOfRolloutPlansAreRead(t *testing.T) {
	folder := filepath.Join("..", "..", "docs", "examples", "rollouts")
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	guide, err := os.ReadFile(filepath.Join("..", "..", "docs", "rollouts.md"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, file := range files {
		if filepath.Base(file) == "nodes.yaml" {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			g := NewWithT(t)
			var out, errOut strings.Builder
			a := newApp(Streams{Out: &out, ErrOut: &errOut})
			g.Expect(a.planOffline("v1.36.3", planFlags{file: file, nodes: filepath.Join(folder, "nodes.yaml")})).To(Succeed())
			g.Expect(errOut.String()).To(BeEmpty())
			if filepath.Base(file) == "careful.yaml" {
				g.Expect(string(guide)).To(ContainSubstring(out.String()), "docs/rollouts.md shows what is printed")
			} else {
				g.Expect(out.String()).NotTo(ContainSubstring("Problems"))
			}
		})
	}
}
