package crd

import (
	"os"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"refit.dev/refit/internal/testcluster"
)

func TestMain(m *testing.M) { os.Exit(testcluster.Main(m)) }

func TestTheDefinitionsAreFoundInTheModule(t *testing.T) {
	g := NewWithT(t)
	found, err := Files(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(HaveLen(3))
	for _, path := range found {
		g.Expect(path).To(BeARegularFile())
	}
}

func TestTheKindsAreServedAndInstallingTwiceIsFine(t *testing.T) {
	g, c := NewWithT(t), testcluster.Start(t)
	g.Expect(Install(t.Context(), c.Config)).To(Succeed())
	g.Expect(Install(t.Context(), c.Config)).To(Succeed())
	for _, path := range []string{
		"/apis/config.openshift.io/v1/clusterversions",
		"/apis/config.openshift.io/v1/clusteroperators",
		"/apis/machineconfiguration.openshift.io/v1/machineconfigpools",
	} {
		g.Expect(get(t, c, path)).To(Succeed(), path)
	}
}

func get(t *testing.T, c *testcluster.Cluster, path string) error {
	t.Helper()
	raw, err := rest.UnversionedRESTClientFor(unversioned(c.Config))
	if err != nil {
		return err
	}
	return raw.Get().AbsPath(path).Do(t.Context()).Error()
}

func unversioned(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	return config
}
