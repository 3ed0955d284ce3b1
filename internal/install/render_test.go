package install

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestTheChartIsWhatConfigSays keeps the chart from drifting: what is rendered with a given image and number of replicas
// is what config/ holds, with these put in.
func TestTheChartIsWhatConfigSays(t *testing.T) {
	g := NewWithT(t)
	rendered, err := Render(Options{Image: "registry.site/manager:v9", Replicas: 3})
	g.Expect(err).NotTo(HaveOccurred())
	got := map[string]map[string]any{}
	for _, o := range rendered {
		annotations := o.GetAnnotations()
		if o.GetKind() == "CustomResourceDefinition" {
			g.Expect(annotations).To(HaveKeyWithValue("helm.sh/resource-policy", "keep"), Name(o))
			delete(annotations, "helm.sh/resource-policy")
			o.SetAnnotations(annotations)
		}
		_, twice := got[Name(o)]
		g.Expect(twice).To(BeFalse(), "%s is there twice", Name(o))
		got[Name(o)] = o.Object
	}
	want := wanted(t)
	g.Expect(len(got)).To(Equal(len(want)), "run `go generate ./charts/...`")
	for name, object := range want {
		g.Expect(cmp.Diff(object, got[name])).To(BeEmpty(), "%s: run `go generate ./charts/...`", name)
	}
}

// wanted are the objects in config/, with the image and the replicas of the test.
func wanted(t *testing.T) map[string]map[string]any {
	t.Helper()
	g := NewWithT(t)
	objects := map[string]map[string]any{}
	for _, folder := range []string{"crd", "admission", "rbac", "manager"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "config", folder, "*.yaml"))
		g.Expect(err).NotTo(HaveOccurred())
		for _, file := range files {
			r, err := os.Open(file)
			g.Expect(err).NotTo(HaveOccurred())
			found, err := decode(r)
			g.Expect(err).NotTo(HaveOccurred(), file)
			g.Expect(r.Close()).To(Succeed())
			for _, o := range found {
				setManager(g, o)
				objects[Name(o)] = o.Object
			}
		}
	}
	return objects
}

func setManager(g *WithT, o *unstructured.Unstructured) {
	if o.GetKind() != "Deployment" {
		return
	}
	g.Expect(unstructured.SetNestedField(o.Object, int64(3), "spec", "replicas")).To(Succeed())
	containers, _, err := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
	g.Expect(err).NotTo(HaveOccurred())
	for _, c := range containers {
		c.(map[string]any)["image"] = "registry.site/manager:v9"
	}
	g.Expect(unstructured.SetNestedSlice(o.Object, containers, "spec", "template", "spec", "containers")).To(Succeed())
}

func TestTheNamespaceAndTheKindsComeFirst(t *testing.T) {
	g := NewWithT(t)
	objects, err := Render(Options{Image: "m:1", Replicas: 1})
	g.Expect(err).NotTo(HaveOccurred())
	last := -1
	for _, o := range objects {
		g.Expect(rank(o)).To(BeNumerically(">=", last), Name(o))
		g.Expect(rank(o)).To(BeNumerically("<", len(order)), "%s has no place in the order", Name(o))
		last = rank(o)
	}
}

func TestValuesThatMakeNoManifestAreRefused(t *testing.T) {
	for name, o := range map[string]Options{
		"no image":             {Replicas: 1},
		"an image with a line": {Image: "m:1\nevil: true", Replicas: 1},
		"no replicas":          {Image: "m:1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Render(o)
			NewWithT(t).Expect(err).To(HaveOccurred())
		})
	}
}
