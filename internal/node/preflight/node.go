package preflight

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"os"
	"strings"

	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/task"
)

const kubeletCertificate = "/var/lib/kubelet/pki/kubelet-client-current.pem"

// settings: the node is one of kubeadm's.
func (p Preflight) settings(context.Context) ([]Finding, error) {
	var findings []Finding
	for _, file := range []string{"/var/lib/kubelet/config.yaml", "/etc/kubernetes/kubelet.conf"} {
		there, err := p.Exists(file)
		if err != nil {
			return nil, err
		}
		if !there {
			findings = append(findings, refuse("%s is missing: Refit upgrades nodes that kubeadm has set up", file))
		}
	}
	for _, file := range []string{"/etc/kubernetes/admin.conf", "/etc/kubernetes/pki/ca.crt"} {
		there, err := p.Exists(file)
		if err != nil {
			return nil, err
		}
		if p.Spec.ControlPlane() && !there {
			findings = append(findings, refuse("%s is missing on this control plane", file))
		}
	}
	if manifest, err := p.Exists(task.DefaultManifests + "/kube-apiserver.yaml"); err != nil {
		return nil, err
	} else if manifest && !p.Spec.ControlPlane() {
		findings = append(findings, refuse("this node runs an API server, but is to be upgraded as a worker: "+
			"give it the label node-role.kubernetes.io/control-plane"))
	}
	return findings, nil
}

// nodeName: the kubelet's certificate is for the node that is asked for. The host's own name may be another one.
func (p Preflight) nodeName(context.Context) ([]Finding, error) {
	content, err := os.ReadFile(p.Path(kubeletCertificate))
	if os.IsNotExist(err) {
		return []Finding{warn("%s is missing, so the node's name could not be compared", kubeletCertificate)}, nil
	}
	if err != nil {
		return nil, err
	}
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		if name := strings.TrimPrefix(cert.Subject.CommonName, "system:node:"); name != p.Spec.NodeName {
			return []Finding{refuse("this host is node %s, not %s", name, p.Spec.NodeName)}, nil
		}
		break
	}
	name, err := os.Hostname()
	if err == nil && !strings.EqualFold(name, p.Spec.NodeName) {
		p.Log.Say("the host's name is %s, the node's is %s: its own is used", name, p.Spec.NodeName)
	}
	return nil, nil
}

// programs: the units name the programs that will be replaced, and systemd leaves containers alone when containerd restarts.
func (p Preflight) programs(ctx context.Context) ([]Finding, error) {
	var findings []Finding
	for _, unit := range []string{host.KubeletUnit, host.ContainerdUnit} {
		program, err := p.Systemd.Program(ctx, unit)
		if err != nil {
			return nil, err
		}
		if program == "" {
			findings = append(findings, refuse("%s starts no program: this host does not run it as a systemd service", unit))
			continue
		}
		if there, err := p.Exists(program); err != nil {
			return nil, err
		} else if !there {
			findings = append(findings, refuse("%s starts %s, which is missing", unit, program))
		}
	}
	mode, err := p.Systemd.KillMode(ctx, host.ContainerdUnit)
	if err != nil {
		return nil, err
	}
	if mode != "process" && mode != "mixed" && mode != "none" {
		findings = append(findings, refuse("containerd.service has KillMode=%s, so restarting it would end every container: "+
			"set KillMode=process in its unit", mode))
	}
	return findings, nil
}
