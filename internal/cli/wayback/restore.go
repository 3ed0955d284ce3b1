package wayback

import (
	"fmt"
	"path"
	"strings"

	"refit.dev/refit/internal/node/spec"
)

// Host is a node that is to come back.
type Host struct {
	Name         string `json:"name"`
	ControlPlane bool   `json:"controlPlane"`
	// Old is the version that its programs were kept under, State the folder of the upgrade that replaced them; both are empty where the node
	// was not changed, or nothing is known of it.
	Old   string `json:"old,omitempty"`
	State string `json:"state,omitempty"`
	// Guessed says that nobody told: UID and OLDVERSION stand for what is to be looked up on the node.
	Guessed bool `json:"guessed,omitempty"`
}

// Stage is commands that are given in one go, on each of the nodes before the next stage begins.
type Stage struct {
	Title string `json:"title"`
	// On are the nodes; none stands for wherever kubectl works.
	On       []string `json:"on,omitempty"`
	Commands []string `json:"commands"`
}

// Restore is what the commands are made of.
type Restore struct {
	// From is the version that runs, whose programs are on the nodes.
	From     string
	Hosts    []Host
	Members  []Member
	Snapshot *Snapshot
	// Replicas of the manager that there were.
	Replicas int32
}

const (
	manager = "kubectl -n refit-system scale deployment/refit-manager --replicas="
	admin   = "export KUBECONFIG=/etc/kubernetes/admin.conf"
	pki     = "/etc/kubernetes/pki/etcd"
	// bump lifts the revisions above those that clients have seen: their caches would be ahead of the store otherwise.
	bump = "--bump-revision 1000000000 --mark-compacted"
)

// Stages are the commands in their order.
func (r *Restore) Stages() []Stage {
	masters, workers := r.names(true), r.names(false)
	stages := []Stage{{"Stop Refit, and wait until no Pod of it is left", nil, []string{manager + "0", "kubectl -n refit-system get pods --watch"}}}
	stages = append(stages, r.fetch()...)
	if len(workers) > 0 {
		stages = append(stages, Stage{"Stop the kubelets of the workers; their containers keep running", workers, []string{"systemctl stop kubelet"}})
	}
	stages = append(stages, Stage{"Stop the control planes: from here on the API does not answer", masters, []string{
		"systemctl stop kubelet",
		"crictl --runtime-endpoint unix:///run/containerd/containerd.sock pods --label tier=control-plane --state ready -q | xargs -r crictl --runtime-endpoint unix:///run/containerd/containerd.sock stopp",
	}})
	stages = append(stages, r.data()...)
	for i := range r.Hosts {
		if h := &r.Hosts[i]; h.ControlPlane && h.State != "" {
			stages = append(stages, Stage{"Put the old programs and static Pods back", []string{h.Name}, append(programs(h), manifests(h)...)})
		}
	}
	stages = append(stages, Stage{"Start the control planes, all of them: etcd needs most of its members", masters, []string{"systemctl start kubelet"}})
	if len(masters) > 0 {
		stages = append(stages, r.calm(masters[0]))
	}
	for i := range r.Hosts {
		h := &r.Hosts[i]
		commands := []string{"kubeadm upgrade node phase kubelet-config", "systemctl restart kubelet"}
		if !h.ControlPlane {
			commands = append(programs(h), commands...)
		}
		stages = append(stages, Stage{"Bring the node's kubelet back, and wait until the node is Ready", []string{h.Name}, commands})
	}
	return append(stages, Stage{"Look whether all is well, and let Refit run again", nil,
		[]string{"kubectl get nodes", "kubectl -n kube-system get pods -o wide", fmt.Sprintf("%s%d", manager, r.Replicas), "refit status"}})
}

func (r *Restore) names(controlPlanes bool) []string {
	var out []string
	for _, h := range r.Hosts {
		if h.ControlPlane == controlPlanes {
			out = append(out, h.Name)
		}
	}
	return out
}

func (r *Restore) bin(program string) string {
	return path.Join(spec.VersionDir(r.From), "bin", program)
}

// file is the snapshot, or where to write its name.
func (r *Restore) file() (name, node string) {
	if r.Snapshot == nil {
		return path.Join(spec.EtcdDir, "FILE"), r.Members[0].Node
	}
	return r.Snapshot.File, r.Snapshot.Node
}

// fetch keeps what there is now, and brings the snapshot to every member.
func (r *Restore) fetch() []Stage {
	if len(r.Members) == 0 {
		return nil
	}
	file, node := r.file()
	stages := []Stage{{"Keep what is there now, and look whether the snapshot is whole", []string{node}, []string{
		fmt.Sprintf("%s snapshot save /root/before-restore.db --endpoints https://127.0.0.1:2379 --cacert %[2]s/ca.crt --cert %[2]s/server.crt --key %[2]s/server.key", r.bin("etcdctl"), pki),
		fmt.Sprintf("%s snapshot status %s -w table", r.bin("etcdutl"), file),
	}}}
	var copies []string
	for _, m := range r.Members {
		if m.Node != node {
			copies = append(copies, fmt.Sprintf("scp -p %s root@%s:%s/", file, m.Node, spec.EtcdDir))
		}
	}
	if len(copies) > 0 {
		stages = append(stages, Stage{"Bring the same snapshot to the other members", []string{node}, copies})
	}
	return stages
}

// data restores each member.
func (r *Restore) data() []Stage {
	if len(r.Members) == 0 {
		return []Stage{{"Restore etcd, where it runs, from the backup that you took; see https://etcd.io/docs/latest/op-guide/recovery/", nil, nil}}
	}
	var all []string
	for _, m := range r.Members {
		all = append(all, m.Name+"="+m.PeerURL)
	}
	file, _ := r.file()
	var stages []Stage
	for _, m := range r.Members {
		stages = append(stages, Stage{"Restore the etcd member", []string{m.Node}, []string{
			fmt.Sprintf("mv %s/member %s.before-restore", m.DataDir, m.DataDir),
			fmt.Sprintf("%s snapshot restore %s --name %s --data-dir %s --initial-cluster %s --initial-cluster-token restored --initial-advertise-peer-urls %s %s",
				r.bin("etcdutl"), file, m.Name, m.DataDir, strings.Join(all, ","), m.PeerURL, bump),
		}})
	}
	return stages
}

// programs puts the old programs back, by renaming: the running ones are replaced whole.
func programs(h *Host) []string {
	if h.Old == "" {
		return nil
	}
	return []string{fmt.Sprintf("for p in kubelet kubectl kubeadm; do [ ! -e /usr/bin/$p.refit-%[1]s ] || { cp -p /usr/bin/$p.refit-%[1]s /usr/bin/.$p.old && mv /usr/bin/.$p.old /usr/bin/$p; }; done", h.Old)}
}

// manifests puts the old static Pods back but etcd's: a newer etcd reads the snapshot, and need not go back.
func manifests(h *Host) []string {
	if h.State == "" {
		return nil
	}
	return []string{
		fmt.Sprintf("cp %s/manifests-old/kube-*.yaml /etc/kubernetes/manifests/", h.State),
		fmt.Sprintf("[ ! -d %[1]s/kubelet-old ] || cp %[1]s/kubelet-old/* /var/lib/kubelet/", h.State),
	}
}

// calm keeps Refit from beginning the upgrade again, which was under way when the snapshot was taken.
func (r *Restore) calm(master string) Stage {
	commands := []string{admin, "until " + manager + "0; do sleep 1; done"}
	if r.Snapshot != nil && r.Snapshot.upgrade != "" {
		commands = append(commands, fmt.Sprintf(`kubectl patch kubernetesupgrade %s --type=merge -p '{"spec":{"abort":true}}'`, r.Snapshot.upgrade))
	} else {
		commands = append(commands, "kubectl get kubernetesupgrades  # abort one that is under way: kubectl patch kubernetesupgrade NAME --type=merge -p '{\"spec\":{\"abort\":true}}'")
	}
	return Stage{"At once, keep Refit from beginning the upgrade again: the snapshot is of a time at which it was under way", []string{master}, commands}
}
