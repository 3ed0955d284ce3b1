package replace_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"refit.dev/refit/internal/node/replace"
)

var errCut = errors.New("the power is cut")

// cutDisk is the real disk until the power is cut before a certain change. A file that is being written then is left half.
type cutDisk struct {
	replace.OS
	left int
}

func (d *cutDisk) cut() bool {
	if d.left == 0 {
		return true
	}
	d.left--
	return false
}

func (d *cutDisk) WriteTemp(path string, content io.Reader, mode os.FileMode) error {
	if d.cut() {
		if err := d.OS.WriteTemp(path, io.LimitReader(content, 3), mode); err != nil {
			return err
		}
		return errCut
	}
	return d.OS.WriteTemp(path, content, mode)
}

func (d *cutDisk) Link(a, b string) error {
	if d.cut() {
		return errCut
	}
	return d.OS.Link(a, b)
}

func (d *cutDisk) Rename(a, b string) error {
	if d.cut() {
		return errCut
	}
	return d.OS.Rename(a, b)
}

func (d *cutDisk) Remove(path string) error {
	if d.cut() {
		return errCut
	}
	return d.OS.Remove(path)
}

func (d *cutDisk) SyncFolder(path string) error {
	if d.cut() {
		return errCut
	}
	return d.OS.SyncFolder(path)
}

const (
	oldText = "the old program"
	newText = "the new program, which is longer"
	from    = "v1.35.4"
)

func read(g *WithT, path string) string {
	content, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	return string(content)
}

// setUp makes a folder with an old program and, apart, a new one.
func setUp(g *WithT, dir string) (source, target string) {
	source, target = filepath.Join(dir, "staged"), filepath.Join(dir, "bin", "kubelet")
	g.Expect(os.MkdirAll(filepath.Dir(target), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(source, []byte(newText), 0o600)).To(Succeed())
	g.Expect(os.WriteFile(target, []byte(oldText), 0o755)).To(Succeed())
	return source, target
}

func TestReplace(t *testing.T) {
	t.Run("puts the new file in, executable, and keeps the old one", func(t *testing.T) {
		g := NewWithT(t)
		source, target := setUp(g, t.TempDir())
		g.Expect(replace.Replacer{Disk: replace.OS{}}.File(source, target, from, 0o755)).To(Succeed())
		g.Expect(read(g, target)).To(Equal(newText))
		g.Expect(read(g, replace.Kept(target, from))).To(Equal(oldText))
		info, err := os.Stat(target)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o755)))
		g.Expect(names(g, target)).To(ConsistOf("kubelet", "kubelet.refit-"+from))
	})

	t.Run("done twice, still keeps the old one and not the new one", func(t *testing.T) {
		g := NewWithT(t)
		source, target := setUp(g, t.TempDir())
		r := replace.Replacer{Disk: replace.OS{}}
		g.Expect(r.File(source, target, from, 0o755)).To(Succeed())
		g.Expect(r.File(source, target, from, 0o755)).To(Succeed())
		g.Expect(read(g, replace.Kept(target, from))).To(Equal(oldText))
	})

	t.Run("puts the old one back, again and again", func(t *testing.T) {
		g := NewWithT(t)
		source, target := setUp(g, t.TempDir())
		r := replace.Replacer{Disk: replace.OS{}}
		g.Expect(r.File(source, target, from, 0o755)).To(Succeed())
		g.Expect(r.Restore(target, from)).To(Succeed())
		g.Expect(r.Restore(target, from)).To(Succeed())
		g.Expect(read(g, target)).To(Equal(oldText))
		g.Expect(names(g, target)).To(ConsistOf("kubelet", "kubelet.refit-"+from))
	})

	t.Run("a cut while the old one is put back does not harm it in the next attempt", func(t *testing.T) {
		for changes := range 6 {
			g := NewWithT(t)
			source, target := setUp(g, t.TempDir())
			r := replace.Replacer{Disk: replace.OS{}}
			g.Expect(r.File(source, target, from, 0o755)).To(Succeed())
			_ = replace.Replacer{Disk: &cutDisk{left: changes}}.Restore(target, from)
			g.Expect(r.File(source, target, from, 0o755)).To(Succeed())
			g.Expect(read(g, target)).To(Equal(newText))
			g.Expect(read(g, replace.Kept(target, from))).To(Equal(oldText))
		}
	})

	t.Run("replaces what a symbolic link leads to, and leaves the link", func(t *testing.T) {
		g := NewWithT(t)
		source, target := setUp(g, t.TempDir())
		link := filepath.Join(t.TempDir(), "kubelet")
		g.Expect(os.Symlink(target, link)).To(Succeed())
		g.Expect(replace.Replacer{Disk: replace.OS{}}.File(source, link, from, 0o755)).To(Succeed())
		g.Expect(read(g, target)).To(Equal(newText))
		g.Expect(os.Readlink(link)).To(Equal(target))
	})

	t.Run("a program that runs is replaced, too", func(t *testing.T) {
		g := NewWithT(t)
		source, target := setUp(g, t.TempDir())
		open, err := os.Open(target)
		g.Expect(err).NotTo(HaveOccurred())
		defer open.Close()
		g.Expect(replace.Replacer{Disk: replace.OS{}}.File(source, target, from, 0o755)).To(Succeed())
		g.Expect(io.ReadAll(open)).To(BeEquivalentTo(oldText), "who has the old file open keeps it")
	})

	t.Run("says what is missing where there is nothing to put back", func(t *testing.T) {
		g := NewWithT(t)
		_, target := setUp(g, t.TempDir())
		g.Expect(replace.Replacer{Disk: replace.OS{}}.Restore(target, "v1.0.0")).To(MatchError(ContainSubstring("is not there to be put back")))
		g.Expect(read(g, target)).To(Equal(oldText))
	})
}

func names(g *WithT, target string) []string {
	entries, err := os.ReadDir(filepath.Dir(target))
	g.Expect(err).NotTo(HaveOccurred())
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// Wherever the power is cut, any number of times, while a program is replaced or put back: its path is always the whole old or the
// whole new one, what is kept is always the old one, and a run without a cut ends as it is meant to.
func TestPowerCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := NewWithT(t)
		dir, err := os.MkdirTemp("", "replace-*")
		g.Expect(err).NotTo(HaveOccurred())
		defer os.RemoveAll(dir)
		source, target := setUp(g, dir)
		whole := func() {
			g.Expect(read(g, target)).To(BeElementOf(oldText, newText))
			if _, err := os.Stat(replace.Kept(target, from)); err == nil {
				g.Expect(read(g, replace.Kept(target, from))).To(Equal(oldText))
			}
		}
		for range rapid.IntRange(1, 6).Draw(t, "runs") {
			d := &cutDisk{left: rapid.IntRange(0, 12).Draw(t, "changes until the cut")}
			r := replace.Replacer{Disk: d}
			if rapid.Bool().Draw(t, "put back") && read(g, target) == newText {
				if r.Restore(target, from) == nil {
					g.Expect(read(g, target)).To(Equal(oldText))
				}
			} else if r.File(source, target, from, 0o755) == nil {
				g.Expect(read(g, target)).To(Equal(newText))
			}
			whole()
		}
		r := replace.Replacer{Disk: replace.OS{}}
		g.Expect(r.File(source, target, from, 0o755)).To(Succeed())
		g.Expect(read(g, target)).To(Equal(newText))
		g.Expect(r.Restore(target, from)).To(Succeed())
		g.Expect(names(g, target)).To(ConsistOf("kubelet", "kubelet.refit-"+from), "nothing is left behind")
	})
}
