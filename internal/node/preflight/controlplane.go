package preflight

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"refit.dev/refit/internal/node/controlplane"
	"refit.dev/refit/internal/node/etcd"
	"refit.dev/refit/internal/node/staticpod"
	"refit.dev/refit/internal/node/task"
)

// staticPods: no manifest is missing, and nothing else in the folder runs as a pod by mistake.
func (p Preflight) staticPods(context.Context) ([]Finding, error) {
	gone, err := controlplane.Gone(p.Task)
	if err != nil {
		return nil, err
	}
	var findings []Finding
	if len(gone) > 0 {
		findings = append(findings, warn("no manifest of %s: an earlier upgrade was cut off; step kubeadm brings it back", strings.Join(gone, ", ")))
	}
	folder, err := staticpod.Folder(p.Task)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(p.Path(folder))
	if err != nil {
		return nil, err
	}
	owner := map[string]string{}
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		base, isYAML := strings.CutSuffix(e.Name(), ".yaml")
		if isYAML && contains(staticpod.Components, base) {
			owner[base] = e.Name()
			continue
		}
		if like := copyOf(e.Name()); like != "" {
			findings = append(findings, refuse("%s looks like a copy of the manifest of %s, and the kubelet runs it as a pod: move it away",
				filepath.Join(folder, e.Name()), like))
		}
	}
	return findings, nil
}

// copyOf is the static pod that a file's name resembles: "kube-apiserver.yaml.bak", "etcd-old.yaml".
func copyOf(name string) string {
	for _, component := range staticpod.Components {
		if strings.HasPrefix(name, component) {
			return component
		}
	}
	return ""
}

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}

// settleTime is how long a control plane may take to become ready that was just restarted, as by an attempt that was cut off.
const settleTime = 45 * time.Second

// apiServer: the local API server is ready. How long its requests took until now is noted: at its end, what comes after tells how long
// its last ones are given.
func (p Preflight) apiServer(ctx context.Context) ([]Finding, error) {
	if gone, err := controlplane.Gone(p.Task); err != nil || len(gone) > 0 {
		return nil, err // the check of the static pods tells
	}
	begun, err := controlplane.Begun(p.Task)
	if err != nil {
		return nil, err
	}
	up := func(ctx context.Context) string { return controlplane.Up(ctx, p.Task) }
	if err := p.Wait(ctx, "this control plane", time.Second, settleTime, up); err != nil {
		if begun {
			return []Finding{warn("%v; going on, as its upgrade has begun", err)}, nil
		}
		return []Finding{refuse("%v: an upgrade starts from a healthy control plane only", err)}, nil
	}
	if err := controlplane.Keep(p.Task); err != nil {
		return nil, err
	}
	if err := controlplane.NoteLatencies(ctx, p.Task); err != nil {
		p.Log.Say("how long requests take is not known: %v", err)
	}
	return nil, nil
}

// etcd: from a 3.5 that forgets removed members there is no way to 3.6.
func (p Preflight) etcd(context.Context) ([]Finding, error) {
	local, err := etcd.Local(p.Task)
	if err != nil || !local {
		return nil, err
	}
	folder, err := staticpod.Folder(p.Task)
	if err != nil {
		return nil, err
	}
	m, content, err := staticpod.Read(p.Task, folder, staticpod.Etcd)
	if err != nil || content == nil {
		return nil, err
	}
	var findings []Finding
	from, to := m.Tag(), p.Bundle.Component("etcd")
	if task.Older(from, "3.5.26") && !task.Older(to, "3.6.0") && to != "" {
		findings = append(findings, refuse("etcd %s to %s: members that were removed would come back; upgrade etcd to 3.5.26 or later first "+
			"(a patch version of the Kubernetes that runs now brings it)", from, to))
	}
	return findings, nil
}

// drift: what kubeadm would write today for the version that runs, against what is there. kubeadm overwrites hand-made changes.
func (p Preflight) drift(ctx context.Context) ([]Finding, error) {
	folder, err := staticpod.Folder(p.Task)
	if err != nil {
		return nil, err
	}
	m, _, err := staticpod.Read(p.Task, folder, staticpod.APIServer)
	if err != nil || m.Tag() == "" {
		return nil, err
	}
	kubelet, err := p.KubeletProgram(ctx)
	if err != nil {
		return nil, err
	}
	kubeadm := p.Beside(kubelet, "kubeadm")
	version, err := p.ProgramVersion(ctx, kubeadm, "version", "-o", "short")
	if err != nil || version != m.Tag() {
		p.Log.Say("drift is not looked for: the static pods are at %s, %s is %s", m.Tag(), kubeadm, version)
		return nil, nil
	}
	into := p.State("drift")
	defer os.RemoveAll(p.Path(into))
	if err := controlplane.Render(ctx, p.Task, kubeadm, version, into); err != nil {
		return []Finding{warn("drift of the static pods could not be looked for: %v", err)}, nil
	}
	return p.differences(folder, into)
}

func (p Preflight) differences(folder, rendered string) ([]Finding, error) {
	var findings []Finding
	for _, component := range staticpod.Components {
		_, now, err := staticpod.Read(p.Task, folder, component)
		if err != nil {
			return nil, err
		}
		_, fresh, err := staticpod.Read(p.Task, rendered, component)
		if err != nil {
			return nil, err
		}
		if now == nil || fresh == nil {
			continue
		}
		if lines := onlyIn(now, fresh); len(lines) > 0 {
			findings = append(findings, warn("the manifest of %s was changed by hand, the upgrade undoes it: %s; to keep it put a kubeadm patch into %s",
				component, quoteSome(lines), controlplane.PatchesFolder))
		}
	}
	return findings, nil
}

// onlyIn are the lines of a manifest that another lacks, but for etcd's first members, which differ and have no effect.
func onlyIn(now, fresh []byte) []string {
	there := map[string]bool{}
	for line := range strings.Lines(string(fresh)) {
		there[strings.TrimSpace(line)] = true
	}
	var lines []string
	for line := range strings.Lines(string(now)) {
		line = strings.TrimSpace(line)
		if line != "" && !there[line] && !strings.Contains(line, "--initial-cluster") {
			lines = append(lines, line)
		}
	}
	return lines
}

func quoteSome(lines []string) string {
	const most = 4
	more := ""
	if len(lines) > most {
		more = fmt.Sprintf(" and %d more", len(lines)-most)
		lines = lines[:most]
	}
	return strings.Join(lines, ", ") + more
}
