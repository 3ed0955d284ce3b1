package bundle

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// kubelet is a file of the content "kubelet".
var kubelet = File{Path: "bin/kubelet", Component: ComponentKubernetes, Size: 7,
	SHA256: "1ca4bc7eb9b3d6f1e205da9cfab437c89d3760d0765a29a6bcbccf4ad51a2cb1"}

func folder(t *testing.T, m Manifest, files map[string]string) string {
	t.Helper()
	g := NewWithT(t)
	dir := t.TempDir()
	data, err := json.Marshal(m)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.WriteFile(filepath.Join(dir, ManifestName), data, 0o644)).To(Succeed())
	for name, content := range files {
		file := filepath.Join(dir, name)
		g.Expect(os.MkdirAll(filepath.Dir(file), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(file, []byte(content), 0o755)).To(Succeed())
	}
	return dir
}

func TestAManifestIsReadFromAFolder(t *testing.T) {
	g := NewWithT(t)
	want := Manifest{Version: "v1.36.3", Files: []File{kubelet}, Images: []string{"registry.k8s.io/pause:3.10.2"}}
	got, err := Read(folder(t, want, nil))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(Equal(want))
}

func TestAManifestThatIsOfNoUseIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":                           `{`,
		"no version":                        `{"files":[{"path":"bin/kubelet"}]}`,
		"no files":                          `{"version":"v1.36.3"}`,
		"a path that leaves the folder":     `{"version":"v1.36.3","files":[{"path":"../etc/passwd"}]}`,
		"an absolute path":                  `{"version":"v1.36.3","files":[{"path":"/etc/passwd"}]}`,
		"the manifest among its own files":  `{"version":"v1.36.3","files":[{"path":"manifest.json"}]}`,
		"a path that only seems to be fine": `{"version":"v1.36.3","files":[{"path":"bin/../../x"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(text))
			NewWithT(t).Expect(err).To(HaveOccurred())
		})
	}
}

func TestVerifyNamesTheFileThatDiffers(t *testing.T) {
	good := map[string]string{"bin/kubelet": "kubelet"}
	m := Manifest{Version: "v1.36.3", Files: []File{kubelet}}
	for name, c := range map[string]struct {
		files map[string]string
		got   bool
	}{
		"a missing file":   {map[string]string{}, false},
		"a changed file":   {map[string]string{"bin/kubelet": "kubelex"}, true},
		"a truncated file": {map[string]string{"bin/kubelet": ""}, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			err := m.Verify(folder(t, m, c.files))
			var wrong *ChecksumError
			g.Expect(errors.As(err, &wrong)).To(BeTrue())
			g.Expect(wrong.Path).To(Equal("bin/kubelet"))
			g.Expect(wrong.Got != "").To(Equal(c.got))
			g.Expect(err.Error()).To(ContainSubstring("bin/kubelet"))
		})
	}
	NewWithT(t).Expect(m.Verify(folder(t, m, good))).To(Succeed())
}
