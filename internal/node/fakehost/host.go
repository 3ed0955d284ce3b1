// Package fakehost is a control plane in a folder, for tests: files, a service manager, a container runtime, etcd and an API server that
// behave as the steps need them to, and a power that can be cut between any two changes.
package fakehost

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/bundle"
	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/replace"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/node/staticpod"
	"refit.dev/refit/internal/node/task"
	"refit.dev/refit/internal/sequence"
)

// Versions that the host is at first, and is brought to.
const (
	From, To = "v1.35.4", "v1.36.3"
	NodeName = "cp-1"
)

// speed is how much faster the host's clock runs. What the steps really do takes longer on it, too: at this speed a second of a busy
// machine stays within the shortest of their deadlines.
const speed = 100

// etcdTags are the tags of etcd that kubeadm wants at a version.
var etcdTags = map[string]string{From: "3.6.6-0", To: "3.6.8-0"}

// Host is a control plane in a folder.
type Host struct {
	Root    string
	Power   *Power
	Systemd *Systemd
	Runtime *Runtime
	// Log is what the steps said.
	Log *strings.Builder
	// Clock is the host's, and the API server's.
	Clock FastClock
	// Skew is how far the API server's clock is ahead.
	Skew time.Duration

	t         testing.TB
	api, etcd *server
	bundle    bundle.Manifest
}

// New makes a control plane at From, with the programs of To staged.
func New(t testing.TB) *Host {
	t.Helper()
	h := &Host{Root: t.TempDir(), Power: &Power{left: -1}, Log: &strings.Builder{}, Clock: NewFastClock(speed), t: t}
	h.Runtime = &Runtime{power: h.Power, images: map[string]bool{}, Broken: map[string]bool{}, Name: "containerd", Release: "v2.2.8",
		Driver: runtime.CgroupDriver_CGROUPFS, changed: h.follow, asked: h.kubeletLooks}
	h.Systemd = &Systemd{host: h, Crashes: map[string]bool{}, KillModes: map[string]string{}, Transients: map[string]host.Transient{},
		States: map[string]host.UnitState{},
		units: map[string]*unit{
			host.KubeletUnit:    {program: "/usr/bin/kubelet"},
			host.ContainerdUnit: {program: "/usr/bin/containerd"},
		}}
	at := ownAddress(t)
	pair := newPair(t, at)
	h.api, h.etcd = newServer(t, pair, at, 16443, h.serveAPI), newServer(t, pair, at, 12379, h.serveEtcd)
	socket := shortSocket(t)
	stop, err := h.Runtime.serve(socket)
	h.must(err)
	t.Cleanup(stop)
	h.writeSettings(pair, socket)
	h.writePrograms()
	h.writeTemplates()
	h.writeManifests(From)
	h.Boot()
	return h
}

// shortSocket is a path for a socket; one in a test's own folder would be too long.
func shortSocket(t testing.TB) string {
	dir, err := os.MkdirTemp("", "cri")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return filepath.Join(dir, "s")
}

func (h *Host) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// Path is where a file of the host is.
func (h *Host) Path(path string) string { return filepath.Join(h.Root, path) }

// Write writes a file of the host.
func (h *Host) Write(path, content string, mode os.FileMode) {
	h.t.Helper()
	h.must(os.MkdirAll(filepath.Dir(h.Path(path)), 0o755))
	h.must(os.WriteFile(h.Path(path), []byte(content), mode))
}

// Read reads a file of the host; empty where there is none.
func (h *Host) Read(path string) string {
	h.t.Helper()
	content, err := os.ReadFile(h.Path(path))
	if os.IsNotExist(err) {
		return ""
	}
	h.must(err)
	return string(content)
}

// Remove removes a file of the host.
func (h *Host) Remove(path string) {
	h.t.Helper()
	h.must(os.Remove(h.Path(path)))
}

// Boot is what happens when the power comes back: nothing runs but the services, and they start the pods.
func (h *Host) Boot() {
	h.t.Helper()
	h.Power.CutAfter(-1)
	h.Runtime.stopAll()
	for _, name := range []string{host.ContainerdUnit, host.KubeletUnit} {
		h.Systemd.halt(name)
		h.must(h.Systemd.boot(name))
	}
}

// Darken ends the kubelet and every container, etcd and the API server with them, until the next Boot.
func (h *Host) Darken() {
	h.Systemd.halt(host.KubeletUnit)
	h.Runtime.stopAll()
}

var imageLine = regexp.MustCompile(`(?m)^\s*image: (\S+)$`)

// Images are those that the manifests on disk name, by component.
func (h *Host) Images() map[string]string {
	out := map[string]string{}
	for _, component := range staticpod.Components {
		if m := imageLine.FindStringSubmatch(h.Read(staticpod.File(task.DefaultManifests, component))); m != nil {
			out[component] = m[1]
		}
	}
	return out
}

// kubeletStarts starts what the manifests name and does not run so.
func (h *Host) kubeletStarts() {
	for component, image := range h.Images() {
		if h.Runtime.Running(component) != image {
			h.Runtime.start(component, component+"-"+NodeName, image)
		}
	}
}

// kubeletLooks has a kubelet that runs see what has changed in the folder of manifests.
func (h *Host) kubeletLooks() {
	if h.Systemd.runs(host.KubeletUnit) && !h.Power.Off() {
		h.kubeletStarts()
	}
}

// follow lets etcd and the API server answer while their containers run.
func (h *Host) follow() {
	h.etcd.set(h.Runtime.Running(staticpod.Etcd) != "")
	h.api.set(h.Runtime.Running(staticpod.APIServer) != "")
}

// Spec is what is asked for.
func (h *Host) Spec() spec.Spec {
	return spec.Spec{UpgradeUID: "0123-uid", UpgradeName: "cp-1-" + To, NodeName: NodeName, Version: To, FromVersion: From,
		NodeType: v1alpha1.NodeTypeControlPlane, First: true, Attempt: 1}
}

// Task is an upgrade of the host whose steps are recorded in its journal. The journal is closed at the test's end.
func (h *Host) Task(s spec.Spec) *task.Task {
	h.t.Helper()
	journal, err := sequence.OpenJournal(h.Path(spec.JournalPath(s.UpgradeUID)))
	h.must(err)
	h.t.Cleanup(func() {
		if err := journal.Close(); err != nil {
			h.t.Error(err)
		}
	})
	clock := h.Clock
	out := &host.Host{Root: h.Root, Systemd: h.Systemd, Clock: clock, Log: host.NewLog(io.Writer(h.Log), clock), Disk: disk{power: h.Power}}
	return &task.Task{Host: out, Spec: s, Bundle: h.bundle, Runner: func(prefix string) *sequence.Runner {
		return &sequence.Runner{Journal: journal, Clock: clock, Prefix: prefix, Say: func(r sequence.Record) {
			out.Log.Say("%s %s %s", r.Step, r.Event, r.Message)
		}}
	}}
}

// Sum is the checksum of a file of the host.
func (h *Host) Sum(path string) string {
	h.t.Helper()
	sum, err := replace.Sum(h.Path(path))
	h.must(err)
	return sum
}
