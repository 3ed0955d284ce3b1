package preflight

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

const (
	// skewWarning and skewRefusal are how far the host's clock may be from the API server's. Certificates of the moment are
	// not valid yet on a host that is behind.
	skewWarning = 5 * time.Second
	skewRefusal = time.Minute
	// expiryWarning and expiryRefusal are how long a certificate must still last.
	expiryWarning = 7 * 24 * time.Hour
	expiryRefusal = 24 * time.Hour
)

// clock: the API server answers, and the host's clock is near its.
func (p Preflight) clock(ctx context.Context) ([]Finding, error) {
	api, err := p.API()
	if err != nil {
		return nil, err
	}
	before := p.Clock.Now()
	theirs, err := api.Now(ctx)
	if err != nil {
		return nil, fmt.Errorf("the API server at %s: %w", api.Server, err)
	}
	ours := before.Add(p.Clock.Since(before) / 2)
	skew := ours.Sub(theirs).Abs()
	// The answer's date has whole seconds.
	if skew -= time.Second; skew > skewRefusal {
		return []Finding{refuse("the host's clock is %s from the API server's: set it (chrony, systemd-timesyncd)", skew.Round(time.Second))}, nil
	} else if skew > skewWarning {
		return []Finding{warn("the host's clock is %s from the API server's", skew.Round(time.Second))}, nil
	}
	return nil, nil
}

// certificates: none has expired or is about to. kubeadm renews its own in the upgrade, but must reach the cluster first.
func (p Preflight) certificates(context.Context) ([]Finding, error) {
	var findings []Finding
	certs, err := p.allCertificates()
	if err != nil {
		return nil, err
	}
	for _, c := range certs {
		left := c.expires.Sub(p.Clock.Now())
		remedy := "renew it with `kubeadm certs renew all`, then restart the static pods"
		if strings.Contains(c.name, "/kubelet/") {
			remedy = "see why the kubelet does not rotate it (`journalctl -u kubelet`)"
		} else if c.ca {
			remedy = "replace the certificate authority"
		}
		switch {
		case left <= 0:
			findings = append(findings, refuse("certificate %s has expired on %s: %s", c.name, c.expires.Format(time.DateOnly), remedy))
		case left < expiryRefusal:
			findings = append(findings, refuse("certificate %s expires in %s: %s", c.name, left.Round(time.Minute), remedy))
		case left < expiryWarning:
			findings = append(findings, warn("certificate %s expires on %s: %s", c.name, c.expires.Format(time.DateOnly), remedy))
		}
	}
	return findings, nil
}

type certificate struct {
	name    string
	expires time.Time
	ca      bool
}

func (p Preflight) allCertificates() ([]certificate, error) {
	var all []certificate
	for _, pattern := range []string{"/etc/kubernetes/pki/*.crt", "/etc/kubernetes/pki/etcd/*.crt", kubeletCertificate} {
		files, err := filepath.Glob(p.Path(pattern))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			found, err := parse(strings.TrimPrefix(file, strings.TrimSuffix(p.Root, "/")), content)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	for _, name := range []string{"admin.conf", "controller-manager.conf", "scheduler.conf"} {
		found, err := p.inKubeconfig("/etc/kubernetes/" + name)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func (p Preflight) inKubeconfig(file string) ([]certificate, error) {
	content, err := os.ReadFile(p.Path(file))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var k struct {
		Users []struct {
			User struct {
				CertData string `json:"client-certificate-data"`
			} `json:"user"`
		} `json:"users"`
	}
	if err := yaml.Unmarshal(content, &k); err != nil {
		return nil, fmt.Errorf("%s is not YAML of the expected form: %w", file, err)
	}
	var all []certificate
	for _, u := range k.Users {
		data, err := base64.StdEncoding.DecodeString(u.User.CertData)
		if err != nil {
			return nil, fmt.Errorf("the certificate in %s: %w", file, err)
		}
		found, err := parse(file, data)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// parse takes the first certificate of a file: what follows is its chain.
func parse(name string, content []byte) ([]certificate, error) {
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %s: %w", name, err)
		}
		return []certificate{{name: name, expires: cert.NotAfter, ca: cert.IsCA}}, nil
	}
	return nil, nil
}
