package parts

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// aptMachine is a machine with apt-get and dpkg-deb: the package has the programs, and is found after update runs of apt-get update.
type aptMachine struct {
	updates   int
	neverFind bool
	programs  []string
	ran       []string
}

func (m *aptMachine) job(t *testing.T) *job {
	t.Helper()
	j := &job{dir: t.TempDir(), work: t.TempDir(), note: func(string) {}}
	j.run = func(_ context.Context, c command) error {
		m.ran = append(m.ran, c.name+" "+c.args[0])
		switch m.ran[len(m.ran)-1] {
		case "apt-get download":
			if m.updates > 0 {
				return errors.New("unable to locate package " + c.args[1])
			}
			return os.WriteFile(filepath.Join(c.dir, c.args[1]+"_1_amd64.deb"), nil, 0o644)
		case "apt-get update":
			if m.neverFind {
				return errors.New("permission denied")
			}
			m.updates--
			return nil
		}
		return m.unpack(c.args[2])
	}
	return j
}

func (m *aptMachine) unpack(root string) error {
	bin := filepath.Join(root, "usr", "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	for _, p := range m.programs {
		if err := os.WriteFile(filepath.Join(bin, p), []byte(p), 0o755); err != nil {
			return err
		}
	}
	return nil
}

func TestProgramsAreTakenOutOfADebianPackage(t *testing.T) {
	for name, test := range map[string]struct {
		updates int
		ran     string
	}{
		"with lists of packages":     {0, "apt-get download, dpkg-deb -x"},
		"on a machine without lists": {1, "apt-get download, apt-get update, apt-get download, dpkg-deb -x"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			part := Prometheus()
			m := &aptMachine{updates: test.updates, programs: part.Files}
			j := m.job(t)
			g.Expect(part.recipe.build(t.Context(), j)).To(Succeed())
			g.Expect(strings.Join(m.ran, ", ")).To(Equal(test.ran))
			for _, f := range part.Files {
				g.Expect(os.ReadFile(filepath.Join(j.dir, f))).To(BeEquivalentTo(f))
			}
		})
	}
}

func TestAPackageThatCannotBeHadSaysWhatToDo(t *testing.T) {
	g := NewWithT(t)
	m := &aptMachine{updates: 1, neverFind: true}
	g.Expect(Prometheus().recipe.build(t.Context(), m.job(t))).To(MatchError(And(
		ContainSubstring("package prometheus"), ContainSubstring("sudo apt-get update"), ContainSubstring("permission denied"))))
	m = &aptMachine{updates: 9}
	g.Expect(Prometheus().recipe.build(t.Context(), m.job(t))).To(MatchError(ContainSubstring("download Debian's package prometheus")))
	m = &aptMachine{programs: []string{"prometheus"}}
	g.Expect(Prometheus().recipe.build(t.Context(), m.job(t))).To(MatchError(ContainSubstring("take promtool out")))
}
