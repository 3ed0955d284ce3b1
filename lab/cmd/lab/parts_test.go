package main

import (
	"bytes"
	"os"
	"testing"

	. "github.com/onsi/gomega"

	"refit.dev/refit/lab/parts"
)

func TestPartsPrometheusPrintsItsFolderAndNothingElse(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("REFIT_CACHE", t.TempDir())
	store, err := parts.OpenStore()
	g.Expect(err).NotTo(HaveOccurred())
	folder := store.Dir(parts.Prometheus())
	g.Expect(os.MkdirAll(folder, 0o755)).To(Succeed()) // it is built already
	var printed bytes.Buffer
	root := newRoot()
	root.SetArgs([]string{"parts", "--prometheus"})
	root.SetOut(&printed)
	root.SetErr(&bytes.Buffer{})
	g.Expect(root.ExecuteContext(t.Context())).To(Succeed())
	g.Expect(printed.String()).To(Equal(folder + "\n"))
}
