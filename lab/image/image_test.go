package image

import (
	"archive/tar"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	. "github.com/onsi/gomega"
)

func recipe(t *testing.T) Recipe {
	t.Helper()
	source := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(source, []byte("program"), 0o600); err != nil {
		t.Fatal(err)
	}
	return Recipe{Entrypoint: []string{"/program"}, Files: []File{{Path: "program", Source: source},
		{Path: "etc/settings", Content: "x=1", Mode: 0o644}, {Path: "link", Link: "/program"}}}
}

func TestTheSameFilesMakeTheSameImage(t *testing.T) {
	g := NewWithT(t)
	one, err := Build(recipe(t))
	g.Expect(err).NotTo(HaveOccurred())
	two, err := Build(recipe(t))
	g.Expect(err).NotTo(HaveOccurred())
	first, err := one.Digest()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(two.Digest()).To(Equal(first))
}

func TestAPushedImageIsFoundUnderItsPathWithAllItsFiles(t *testing.T) {
	g := NewWithT(t)
	server := httptest.NewServer(registry.New())
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	img, err := Build(recipe(t))
	g.Expect(err).NotTo(HaveOccurred())
	digest, err := Push(t.Context(), address, "registry.k8s.io/coredns/coredns:v1.13.1", img)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(digest).To(HavePrefix("registry.k8s.io/coredns/coredns@sha256:"))

	ref, err := name.ParseReference(address + "/coredns/coredns:v1.13.1")
	g.Expect(err).NotTo(HaveOccurred())
	pulled, err := remote.Image(ref)
	g.Expect(err).NotTo(HaveOccurred())
	config, err := pulled.ConfigFile()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(config.Config.Entrypoint).To(Equal([]string{"/program"}))
	files := map[string]string{}
	contents := mutate.Extract(pulled)
	defer contents.Close()
	for archive := tar.NewReader(contents); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		g.Expect(err).NotTo(HaveOccurred())
		text, err := io.ReadAll(archive)
		g.Expect(err).NotTo(HaveOccurred())
		files[header.Name] = string(text) + header.Linkname
	}
	g.Expect(files).To(Equal(map[string]string{"program": "program", "etc/settings": "x=1", "link": "/program"}))
}

func TestAMissingProgramIsNamed(t *testing.T) {
	g := NewWithT(t)
	_, err := Build(Recipe{Files: []File{{Path: "program", Source: "/nowhere/program"}}})
	g.Expect(err).To(MatchError(ContainSubstring("/nowhere/program")))
}

func TestABadNameIsRefused(t *testing.T) {
	g := NewWithT(t)
	img, err := Build(recipe(t))
	g.Expect(err).NotTo(HaveOccurred())
	_, err = Push(t.Context(), "127.0.0.1:1", "Not A Name", img)
	g.Expect(err).To(MatchError(ContainSubstring(`"Not A Name"`)))
}

func TestThePacketFilterIsKeptAndNothingElse(t *testing.T) {
	g := NewWithT(t)
	for _, file := range []string{"usr/sbin/iptables-nft", "usr/sbin/xtables-nft-multi", "etc/alternatives/iptables", "lib64",
		"usr/lib/x86_64-linux-gnu/libc.so.6", "usr/lib/x86_64-linux-gnu/xtables/libxt_comment.so", "usr/sbin/conntrack"} {
		g.Expect(ForPacketFilter(file)).To(BeTrue(), file)
	}
	for _, file := range []string{"usr/sbin/haproxy", "usr/lib/x86_64-linux-gnu/libssl.so.3", "etc/passwd", "usr/bin/bash"} {
		g.Expect(ForPacketFilter(file)).To(BeFalse(), file)
	}
}
