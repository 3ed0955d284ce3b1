package observe

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"refit.dev/refit/internal/snapshot"
)

// authority signs the certificates of a test.
type authority struct {
	g    *WithT
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(g *WithT, dir string) *authority {
	a := &authority{g: g, dir: dir}
	a.key, a.cert = a.sign("ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}, 365*24*time.Hour)
	return a
}

func (a *authority) sign(name string, template *x509.Certificate, lasts time.Duration) (*ecdsa.PrivateKey, *x509.Certificate) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	a.g.Expect(err).NotTo(HaveOccurred())
	template.SerialNumber, template.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: name}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Minute), time.Now().Add(lasts)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	a.g.Expect(err).NotTo(HaveOccurred())
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	a.g.Expect(err).NotTo(HaveOccurred())
	a.write(name+".crt", "CERTIFICATE", der)
	a.write(name+".key", "PRIVATE KEY", keyDER)
	cert, err := x509.ParseCertificate(der)
	a.g.Expect(err).NotTo(HaveOccurred())
	return key, cert
}

func (a *authority) write(name, kind string, der []byte) {
	a.g.Expect(os.WriteFile(filepath.Join(a.dir, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)).To(Succeed())
}

func freePort(g *WithT) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(l.Close()).To(Succeed()) }()
	return l.Addr().(*net.TCPAddr).Port
}

// startEtcd runs one member, which wants client certificates as kubeadm's do, and gives its URL.
func startEtcd(t *testing.T, g *WithT, dir string) string {
	a := newAuthority(g, dir)
	both := []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	a.sign("server", &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: both}, 48*time.Hour)
	a.sign("healthcheck-client", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, 48*time.Hour)
	url, peer := fmt.Sprintf("https://127.0.0.1:%d", freePort(g)), fmt.Sprintf("http://127.0.0.1:%d", freePort(g))
	program := filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "etcd")
	cmd := exec.CommandContext(t.Context(), program, "--name=cp-0", "--data-dir="+filepath.Join(dir, "data"), "--unsafe-no-fsync",
		"--listen-client-urls="+url, "--advertise-client-urls="+url, "--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=cp-0="+peer,
		"--client-cert-auth", "--trusted-ca-file="+filepath.Join(dir, "ca.crt"), "--cert-file="+filepath.Join(dir, "server.crt"), "--key-file="+filepath.Join(dir, "server.key"), "--logger=zap", "--log-level=error")
	g.Expect(cmd.Start()).To(Succeed(), "etcd comes from KUBEBUILDER_ASSETS, which `make test` sets")
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return url
}

func etcdPod(node, url string) corev1.Pod {
	return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "etcd-" + node, Labels: map[string]string{LabelComponent: "etcd"}, Annotations: map[string]string{annotationEtcdURLs: url}}, Spec: corev1.PodSpec{NodeName: node}}
}

func TestEtcdIsAskedHowItIs(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	url := startEtcd(t, g, dir)
	pods := []corev1.Pod{etcdPod("cp-0", url), etcdPod("cp-1", "https://127.0.0.1:1")}

	var e snapshot.Etcd
	g.Eventually(func(g Gomega) {
		var err error
		e, err = probeEtcd(t.Context(), EtcdCertificates(dir), pods)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(e.Members).To(HaveLen(1))
		g.Expect(e.Members[0].Healthy).To(BeTrue(), e.Members[0].Error)
	}, time.Minute, "200ms").Should(Succeed())
	m := e.Members[0]
	g.Expect(m.Node).To(Equal("cp-0"))
	g.Expect(m.Leader).To(BeTrue())
	g.Expect(m.Version).To(MatchRegexp(`^3\.`))
	g.Expect(m.SizeBytes).To(BeNumerically(">", 0))
	g.Expect(m.QuotaBytes).To(BeNumerically(">", 0))
	g.Expect(e.Alarms).To(BeEmpty())

	config, err := EtcdCertificates(dir).config()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(withEtcd(t.Context(), config, []string{url}, func(ctx context.Context, c *clientv3.Client) error {
		_, err := c.MemberAddAsLearner(ctx, []string{"http://127.0.0.1:2"})
		return err
	})).To(Succeed())
	e, err = probeEtcd(t.Context(), EtcdCertificates(dir), pods)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(e.Members).To(HaveLen(2))
	for _, m := range e.Members {
		if m.Learner {
			g.Expect(m.Healthy).To(BeFalse())
			g.Expect(m.Error).To(Equal("it has never started"))
		}
	}

	certificates, err := probeCertificates(t.Context(), &rest.Config{}, EtcdCertificates(dir), pods)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(certificates).To(HaveLen(2), "the server that does not answer is left out")
	g.Expect(certificates[0].Name).To(Equal("etcd-ca"))
	g.Expect(certificates[0].Authority).To(BeTrue())
	g.Expect(certificates[1].Node).To(Equal("cp-0"))
	g.Expect(time.Until(certificates[1].NotAfter)).To(BeNumerically("~", 48*time.Hour, time.Hour))
}

func TestEtcdThatCannotBeAskedIsUnobserved(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	_, err := probeEtcd(t.Context(), EtcdCertificates(dir), nil)
	g.Expect(err).To(MatchError(errExternalEtcd))
	_, err = probeEtcd(t.Context(), EtcdCertificates(dir), []corev1.Pod{etcdPod("cp-0", "https://127.0.0.1:1")})
	g.Expect(err).To(MatchError(ContainSubstring("ca.crt")))
	a := newAuthority(g, dir)
	a.sign("healthcheck-client", &x509.Certificate{}, time.Hour)
	_, err = probeEtcd(t.Context(), EtcdCertificates(dir), []corev1.Pod{etcdPod("cp-0", "https://127.0.0.1:1")})
	g.Expect(err).To(MatchError(ContainSubstring("no etcd member answers: etcd on node cp-0")))
}
