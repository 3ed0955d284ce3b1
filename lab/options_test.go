package lab

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestOptionsNameTheFlagThatIsWrong(t *testing.T) {
	for name, test := range map[string]struct {
		options Options
		message string
	}{
		"a name with capitals":             {Options{Name: "Refit"}, "--name"},
		"a name that is too long":          {Options{Name: "abcdefghijklmnopqrstu"}, "--name"},
		"too many control planes":          {Options{ControlPlanes: 8}, "--control-planes 8"},
		"a negative number of workers":     {Options{Workers: -1}, "--workers -1"},
		"more hosts than addresses":        {Options{Workers: 250}, "--workers 250"},
		"a version without its patch":      {Options{Version: "v1.35"}, `--version "v1.35"`},
		"a version without its v":          {Options{Version: "1.35.4"}, `--version "1.35.4"`},
		"a minor that nobody can build":    {Options{Version: "v1.20.0"}, "--version: the lab has no recipe"},
		"an unknown version to publish":    {Options{Publish: []string{"v1.99.0"}}, "--publish"},
		"a containerd of another world":    {Options{Containerd: "v1.7.0"}, "--containerd"},
		"a negative number of control ...": {Options{ControlPlanes: -1}, "--control-planes -1"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			test.options.Dir = t.TempDir()
			_, err := test.options.complete()
			g.Expect(err).To(MatchError(ContainSubstring(test.message)))
		})
	}
}

func TestOptionsHaveDefaults(t *testing.T) {
	g := NewWithT(t)
	o, err := Options{Dir: "/somewhere"}.complete()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(o.Name).To(Equal(DefaultName))
	g.Expect(o.ControlPlanes).To(Equal(1))
	g.Expect(o.Version).To(Equal(DefaultVersion))
	g.Expect(o.Containerd).To(Equal(DefaultContainerd))
}

func TestTheDefaultLabsFilesAreInTheFolderItselfAndOthersBeside(t *testing.T) {
	g := NewWithT(t)
	g.Expect(folder("/src/.lab", DefaultName)).To(Equal("/src/.lab"))
	g.Expect(folder("/src/.lab", "other")).To(Equal("/src/.lab/other"))
}

func TestTheFolderIsFoundFromAnywhereInTheSourceTree(t *testing.T) {
	g := NewWithT(t)
	root, err := filepath.EvalSymlinks(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	deep := filepath.Join(root, "test", "e2e")
	g.Expect(os.MkdirAll(deep, 0o755)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(root, "go.mod"), []byte("module refit.dev/refit\n\ngo 1.26.0\n"), 0o644)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(root, "test", "go.mod"), []byte("module refit.dev/refit/test\n"), 0o644)).To(Succeed())
	t.Chdir(deep)
	g.Expect(defaultDir()).To(Equal(filepath.Join(root, ".lab")))
}

func TestOutsideTheSourceTreeTheFolderIsInTheCurrentOne(t *testing.T) {
	g := NewWithT(t)
	here, err := filepath.EvalSymlinks(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	t.Chdir(here)
	g.Expect(defaultDir()).To(Equal(filepath.Join(here, ".lab")))
}
