package parts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// fakeRecipe stands for a build from source.
type fakeRecipe struct{ Files []string }

func (f fakeRecipe) build(_ context.Context, j *job) error {
	for _, name := range f.Files {
		if err := os.WriteFile(filepath.Join(j.dir, name), []byte("built"), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// fakePart is a part with two programs that is quick to build.
func fakePart() Part {
	files := []string{"kubeadm", "kubelet"}
	return Part{Name: "kubernetes", Version: "v1.36.3", Files: files, official: kubernetesDownload("v1.36.3"), recipe: fakeRecipe{files}}
}

// mirror serves programs that all contain "official", with the checksum.
func mirror(t *testing.T, checksum string, asked *[]string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.URL.Path)
		answer := "official"
		if strings.HasSuffix(r.URL.Path, ".sha256") {
			answer = checksum
		}
		if _, err := w.Write([]byte(answer)); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func rightChecksum() string {
	sum := sha256.Sum256([]byte("official"))
	return hex.EncodeToString(sum[:])
}

func openStore(t *testing.T, mirror string) *Store {
	t.Helper()
	t.Setenv("REFIT_CACHE", t.TempDir())
	s, err := OpenStore()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.UseMirror(mirror); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhatAMirrorHasIsDownloaded(t *testing.T) {
	g := NewWithT(t)
	var asked []string
	s, part := openStore(t, mirror(t, rightChecksum()+"\n", &asked)), fakePart()
	g.Expect(s.Build(t.Context(), os.Stderr, part)).To(Succeed())
	for _, file := range part.Files {
		g.Expect(os.ReadFile(s.Path(part, file))).To(BeEquivalentTo("official"))
		info, err := os.Stat(s.Path(part, file))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(info.Mode().Perm()).To(BeEquivalentTo(0o755))
	}
	g.Expect(asked).To(ContainElement(HaveSuffix("/release/v1.36.3/bin/linux/amd64/kubeadm.sha256")))
}

func TestWhatAMirrorSpoilsIsBuilt(t *testing.T) {
	g := NewWithT(t)
	var asked []string
	s, part := openStore(t, mirror(t, strings.Repeat("0", 64), &asked)), fakePart()
	g.Expect(s.Build(t.Context(), os.Stderr, part)).To(Succeed())
	g.Expect(os.ReadFile(s.Path(part, "kubeadm"))).To(BeEquivalentTo("built"))
	g.Expect(os.ReadFile(s.LogPath(part))).To(ContainSubstring("has the checksum"))
}

func TestWithoutAMirrorEverythingIsBuilt(t *testing.T) {
	for name, url := range map[string]string{"one that does not answer": "http://127.0.0.1:1", "none wanted": NoMirror} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, part := openStore(t, url), fakePart()
			g.Expect(s.Build(t.Context(), os.Stderr, part)).To(Succeed())
			g.Expect(os.ReadFile(s.Path(part, "kubelet"))).To(BeEquivalentTo("built"))
		})
	}
}

func TestAMirrorIsAnAddress(t *testing.T) {
	g := NewWithT(t)
	g.Expect((&Store{}).UseMirror("dl.k8s.io")).To(MatchError(ContainSubstring("--mirror")))
}
