package oci

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	. "github.com/onsi/gomega"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/bundle"
)

func TestABundleSaysWhatItHolds(t *testing.T) {
	g := NewWithT(t)
	img, m, err := Build(t.Context(), parts(t, "v1.36.3", nil))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(m.UpgradeFrom).To(Equal([]string{"v1.35", "v1.36"}))
	g.Expect(m.DowngradeTo).To(BeEmpty())
	g.Expect(m.Files).To(HaveLen(11))
	g.Expect(m.Images).To(HaveLen(4), "a warning is not an image")
	g.Expect(m.Components).To(Equal([]v1alpha1.Component{{Name: "kubernetes", Version: "v1.36.3"}, {Name: "containerd", Version: "v2.2.9"},
		{Name: "runc", Version: "1.5.2"}, {Name: "cni-plugins", Version: "v1.9.1"}, {Name: "etcd", Version: "3.6.8-0"},
		{Name: "coredns", Version: "v1.14.2"}, {Name: "pause", Version: "3.10.2"}}))

	read, err := Inspect(img)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read).To(Equal(m))
	config, err := img.ConfigFile()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(config.Config.Entrypoint).To(Equal([]string{"/refit-node"}))
}

func TestTheSameProgramsGiveTheSameImageWhereverTheyAre(t *testing.T) {
	g := NewWithT(t)
	a, b := parts(t, "v1.36.3", nil), parts(t, "v1.36.3", nil)
	later := time.Now().Add(time.Hour)
	g.Expect(os.Chtimes(filepath.Join(b.From, "bin", "kubelet"), later, later)).To(Succeed())
	g.Expect(digestOf(t, a)).To(Equal(digestOf(t, b)))
}

func TestVersionsShareTheLayersThatTheyHaveInCommon(t *testing.T) {
	g := NewWithT(t)
	old, _, err := Build(t.Context(), parts(t, "v1.35.4", nil))
	g.Expect(err).NotTo(HaveOccurred())
	young, _, err := Build(t.Context(), parts(t, "v1.36.3", nil))
	g.Expect(err).NotTo(HaveOccurred())
	shared := map[v1.Hash]bool{}
	for _, digest := range layersOf(t, old) {
		shared[digest] = true
	}
	different := 0
	for _, digest := range layersOf(t, young) {
		if !shared[digest] {
			different++
		}
	}
	g.Expect(different).To(Equal(2), "Kubernetes' programs and the manifest; the runtime, CNI, etcd and refit-node are the same")
}

func TestWhatCannotBeBundledIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		programs map[string]string
		change   func(*Options)
		want     string
	}{
		"a program of another version":     {map[string]string{"bin/kubelet": "echo Kubernetes v1.36.1"}, nil, "bin/kubelet is v1.36.1"},
		"a program that fails":             {map[string]string{"bin/runc": "echo cannot run; exit 3"}, nil, "bin/runc"},
		"a program that says no version":   {map[string]string{"bin/containerd": "echo hello"}, nil, "names no version"},
		"etcd tools of another minor":      {map[string]string{"bin/etcdctl": "echo 3.5.26"}, nil, "etcdctl is 3.5.26, but kubeadm installs etcd 3.6.8-0"},
		"a program that nobody knows":      {map[string]string{"bin/nginx": "exit 0"}, nil, "nginx is not a program that a bundle holds"},
		"a downgrade of a minor":           {nil, func(o *Options) { o.DowngradeTo = []string{"v1.35.4"} }, "does not support going back a minor"},
		"an upgrade from itself":           {nil, func(o *Options) { o.UpgradeFrom = []string{"v1.36.3"} }, "names v1.36.3 itself"},
		"an upgrade from nothing sensible": {nil, func(o *Options) { o.UpgradeFrom = []string{"1.35"} }, "neither a version"},
		"a version that is none":           {nil, func(o *Options) { o.Version = "latest" }, "not a Kubernetes version"},
		"no refit-node":                    {nil, func(o *Options) { o.RefitNode = "" }, "--refit-node"},
	} {
		t.Run(name, func(t *testing.T) {
			opts := parts(t, "v1.36.3", c.programs)
			if c.change != nil {
				c.change(&opts)
			}
			_, _, err := Build(t.Context(), opts)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(c.want)))
		})
	}
}

func TestAMissingProgramIsNamed(t *testing.T) {
	g := NewWithT(t)
	opts := parts(t, "v1.36.3", nil)
	g.Expect(os.Remove(filepath.Join(opts.From, "bin", "etcdutl"))).To(Succeed())
	_, _, err := Build(t.Context(), opts)
	g.Expect(err).To(MatchError(ContainSubstring("lacks etcdutl")))
}

func TestABundleIsTheSameAfterItWasAFile(t *testing.T) {
	g := NewWithT(t)
	img, m, err := Build(t.Context(), parts(t, "v1.36.3", nil))
	g.Expect(err).NotTo(HaveOccurred())
	file := filepath.Join(t.TempDir(), "bundle.tar")
	g.Expect(WriteArchive(img, "refit.dev/bundle:v1.36.3", file)).To(Succeed())
	again, remove, err := OpenArchive(file)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(remove()).To(Succeed()) }()
	read, err := Inspect(again)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read).To(Equal(m))
	g.Expect(again.Digest()).To(Equal(must(img.Digest())))
	g.Expect(filepath.Glob(filepath.Join(filepath.Dir(file), ".refit-bundle-*"))).To(BeEmpty(), "nothing is left beside the file")
}

func TestADamagedBundleIsRefusedByTheNameOfTheFile(t *testing.T) {
	g := NewWithT(t)
	img, _, err := Build(t.Context(), parts(t, "v1.36.3", nil))
	g.Expect(err).NotTo(HaveOccurred())
	_, err = Inspect(with(t, img, "bundle/bin/kubelet", "something else"))
	var wrong *bundle.ChecksumError
	g.Expect(errors.As(err, &wrong)).To(BeTrue())
	g.Expect(wrong.Path).To(Equal("bin/kubelet"))
	g.Expect(wrong.Got).NotTo(BeEmpty())

	_, err = Inspect(with(t, img, "bundle/cni/.wh.loopback", ""))
	g.Expect(errors.As(err, &wrong)).To(BeTrue())
	g.Expect(wrong.Path).To(Equal("cni/loopback"))
	g.Expect(wrong.Got).To(BeEmpty())
}
