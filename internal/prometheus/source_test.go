package prometheus

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestTheFolderSaysWhereToAsk(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	write := func(name, text string) {
		g.Expect(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)).To(Succeed())
	}
	_, err := Source{Dir: dir}.Client()
	g.Expect(err).To(MatchError(ErrNone))
	fixed := OpenShift()
	e, err := Source{Dir: dir, Fixed: &fixed}.endpoint()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(e).To(Equal(fixed), "without an address in the folder the fixed one counts")

	write(fileURL, "https://prometheus.monitoring.svc:9090\n")
	e, err = Source{Dir: dir, Fixed: &fixed}.endpoint()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(e).To(Equal(Endpoint{URL: "https://prometheus.monitoring.svc:9090"}), "the folder goes before, and nothing is mixed")

	write(fileCA, "x")
	write(fileToken, "y")
	write(fileServerName, "prometheus\n")
	e, err = Source{Dir: dir}.endpoint()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(e).To(Equal(Endpoint{URL: "https://prometheus.monitoring.svc:9090", CAFile: filepath.Join(dir, fileCA), TokenFile: filepath.Join(dir, fileToken), ServerName: "prometheus"}))

	write(fileURL, "prometheus:9090")
	_, err = Source{Dir: dir}.Client()
	g.Expect(err).To(MatchError(ContainSubstring("URL")))
}
