package wayback

import (
	"cmp"
	"net"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/spec"
)

// Snapshot is one of etcd that Refit took.
type Snapshot struct {
	// Node that has the file, which is a snapshot of the member of Member.
	Node   string `json:"node"`
	File   string `json:"file"`
	Member string `json:"member"`
	// Before is the version whose upgrade it was taken for, From what the node ran then.
	Before string    `json:"before"`
	From   string    `json:"from,omitempty"`
	Taken  time.Time `json:"taken,omitzero"`

	upgrade string
}

// Member is an etcd member that runs as a static Pod.
type Member struct {
	Node    string `json:"node"`
	Name    string `json:"name"`
	PeerURL string `json:"peerURL"`
	DataDir string `json:"dataDir"`
}

var (
	snapshotFile = regexp.MustCompile(regexp.QuoteMeta(spec.EtcdDir) + `/\S+\.db`)
	keptOn       = regexp.MustCompile(`is on node ([^\s:]+)`)
)

// Snapshots are those that the NodeUpgrades tell of, the oldest first. At most three of a member stay on a node.
func Snapshots(claims []v1alpha1.NodeUpgrade) []Snapshot {
	var out []Snapshot
	for i := range claims {
		nu := &claims[i]
		taken := Snapshot{Node: nu.Spec.Machine.Name, Member: nu.Spec.Machine.Name, Before: nu.Spec.KubernetesVersion, From: nu.Status.FromVersion,
			upgrade: nu.Labels[v1alpha1.LabelUpgrade]}
		for _, s := range nu.Status.Steps {
			if s.Name == v1alpha1.StepBackupEtcd && s.State == v1alpha1.StepSucceeded {
				out = appendFile(out, taken, s.Message)
			}
		}
		c := meta.FindStatusCondition(nu.Status.Conditions, v1alpha1.ConditionEtcdCopied)
		if c == nil {
			continue
		}
		if on := keptOn.FindStringSubmatch(c.Message); on != nil {
			taken.Node = on[1]
			out = appendFile(out, taken, c.Message)
		}
	}
	slices.SortStableFunc(out, func(a, b Snapshot) int { return cmp.Or(a.Taken.Compare(b.Taken), strings.Compare(a.File, b.File)) })
	return out
}

// appendFile adds the snapshot whose file a message names, with the time that is at the end of its name.
func appendFile(to []Snapshot, s Snapshot, message string) []Snapshot {
	s.File = snapshotFile.FindString(message)
	if s.File == "" {
		return to
	}
	name := strings.TrimSuffix(path.Base(s.File), ".db")
	if at, err := time.Parse("20060102T150405Z", name[strings.LastIndex(name, "-")+1:]); err == nil {
		s.Taken = at
	}
	return append(to, s)
}

// Members are the etcd members that run as static Pods, by their nodes; none where etcd is outside the cluster.
func Members(pods []corev1.Pod, nodes []corev1.Node) []Member {
	var out []Member
	for i := range pods {
		p := &pods[i]
		if p.Labels["component"] != "etcd" || len(p.Spec.Containers) == 0 {
			continue
		}
		c := &p.Spec.Containers[0]
		words := slices.Concat(c.Command, c.Args)
		m := Member{Node: p.Spec.NodeName, Name: cmp.Or(flag(words, "name"), p.Spec.NodeName), DataDir: cmp.Or(flag(words, "data-dir"), "/var/lib/etcd")}
		m.PeerURL = cmp.Or(flag(words, "initial-advertise-peer-urls"), "https://"+net.JoinHostPort(addressOf(nodes, m.Node), "2380"))
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b Member) int { return strings.Compare(a.Node, b.Node) })
	return out
}

func flag(words []string, name string) string {
	for _, w := range words {
		if value, is := strings.CutPrefix(w, "--"+name+"="); is {
			return value
		}
	}
	return ""
}

func addressOf(nodes []corev1.Node, name string) string {
	for i := range nodes {
		if nodes[i].Name != name {
			continue
		}
		for _, a := range nodes[i].Status.Addresses {
			if a.Type == corev1.NodeInternalIP {
				return a.Address
			}
		}
	}
	return name
}
