package wayback

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"path"
	"slices"
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
	// Dropped says that a later upgrade of the node has removed the programs that were kept under Old.
	Dropped bool `json:"dropped,omitempty"`
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
	scale = "kubectl -n refit-system scale deployment/refit-manager --replicas="
	admin = "export KUBECONFIG=/etc/kubernetes/admin.conf"
	// bump lifts the revisions above those that clients have seen: their caches would be ahead of the store otherwise.
	bump = "--bump-revision 1000000000 --mark-compacted"
	// kept is where the snapshot and the program that restores it lie on every member.
	kept = "/root"
	// now tells apart what is put aside when a stage is begun again: nothing is ever overwritten.
	now = "$(date +%Y%m%dT%H%M%S)"
)

// Stages are the commands in their order.
func (r *Restore) Stages() []Stage {
	masters, workers := r.names(true), r.names(false)
	stages := []Stage{{"Stop Refit. Go on where the API does not answer", nil, []string{scale + "0",
		"kubectl -n refit-system wait --for=delete pod --selector app.kubernetes.io/name=refit --timeout=3m"}}}
	stages = append(stages, r.fetch()...)
	if len(workers) > 0 {
		stages = append(stages, Stage{"Stop the kubelets of the workers, and a step of Refit that is under way; containers keep running", workers,
			[]string{stopKubelet, forgetStep}})
	}
	stages = append(stages, Stage{"Stop the control planes: from here on the API does not answer", masters, append([]string{stopKubelet, forgetStep}, stopContainers...)})
	stages = append(stages, r.data()...)
	for i := range r.Hosts {
		if h := &r.Hosts[i]; h.ControlPlane && h.State != "" {
			stages = append(stages, Stage{"Put the old programs and static Pods back", []string{h.Name}, append(programs(h), manifests(h)...)})
		}
	}
	if len(masters) > 0 {
		stages = append(stages, r.hold(masters[0]),
			Stage{"Start the control planes, all of them: etcd needs most of its members", masters, []string{"systemctl start kubelet"}},
			Stage{"Wait until Refit is held, a minute or two, and see what was done to that end", masters[:1], []string{
				"timeout " + untilHeld + " sh -c 'while systemctl is-active --quiet " + holdUnit + "; do sleep 1; done'",
				"journalctl --no-pager --output=cat --unit " + holdUnit}})
	}
	stages = append(stages, r.members()...)
	stages = append(stages, r.kubelets()...)
	return append(stages, Stage{"Look whether all is well, and let Refit run again. It begins nothing until `refit resume`", nil, []string{
		"kubectl wait --for=condition=Ready nodes --all --timeout=10m", "kubectl get nodes", "kubectl -n kube-system get pods -o wide",
		fmt.Sprintf("%s%d", scale, r.Replicas), "kubectl -n refit-system rollout status deployment/refit-manager --timeout=5m", "refit status"}})
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

// file is the snapshot, or where to write its name.
func (r *Restore) file() (name, node string) {
	if r.Snapshot == nil {
		return path.Join(spec.EtcdDir, "FILE"), r.Members[0].Node
	}
	return r.Snapshot.File, r.Snapshot.Node
}

// bin is a program of etcd on the node that has the snapshot. What runs there was staged there; where that is not known to be the version that
// runs, it is the one that the snapshot was taken for.
func (r *Restore) bin(program string) string {
	version := r.From
	if s := r.Snapshot; s != nil && !slices.ContainsFunc(r.Hosts, func(h Host) bool { return h.Name == s.Node && h.Old != "" }) {
		version = cmp.Or(s.Before, r.From)
	}
	return path.Join(spec.VersionDir(version), "bin", program)
}

const pki = "/etc/kubernetes/pki/etcd"

// ctl runs etcdctl against the member of the host.
func (r *Restore) ctl(command string) string {
	return fmt.Sprintf("%s %s --endpoints https://127.0.0.1:2379 --cacert %[3]s/ca.crt --cert %[3]s/server.crt --key %[3]s/server.key", r.bin("etcdctl"), command, pki)
}

// local is where the snapshot lies on every member.
func (r *Restore) local() string {
	file, _ := r.file()
	return path.Join(kept, path.Base(file))
}

// fetch keeps what there is now, and brings the snapshot to every member. The program that restores it goes along: a control plane that was not
// reached yet may not have it.
func (r *Restore) fetch() []Stage {
	if len(r.Members) == 0 {
		return nil
	}
	file, node := r.file()
	stages := []Stage{
		{"Keep what is there now. Go on where etcd does not answer", []string{node}, []string{r.ctl("snapshot save " + kept + "/before-restore-" + now + ".db")}},
		{"Look whether the snapshot is whole", []string{node}, []string{
			fmt.Sprintf("cp -p %s %s %s/", file, r.bin("etcdutl"), kept),
			fmt.Sprintf("%s/etcdutl snapshot status %s -w table", kept, r.local())}},
	}
	var copies []string
	for _, m := range r.Members {
		if m.Node != node {
			copies = append(copies, fmt.Sprintf("scp -p %s %s/etcdutl root@%s:%s/", r.local(), kept, m.address(), kept))
		}
	}
	if len(copies) > 0 {
		stages = append(stages, Stage{"Bring the same snapshot to the other members, by whatever way there is", []string{node}, copies})
	}
	return stages
}

// address is where a member's host answers, as scp wants it.
func (m *Member) address() string {
	u, err := url.Parse(m.PeerURL)
	if err != nil || u.Hostname() == "" {
		return m.Node
	}
	if ip := net.ParseIP(u.Hostname()); ip != nil && ip.To4() == nil {
		return "[" + u.Hostname() + "]"
	}
	return u.Hostname()
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
	var stages []Stage
	for _, m := range r.Members {
		stages = append(stages, Stage{"Restore the etcd member", []string{m.Node}, []string{
			fmt.Sprintf("[ ! -e %[1]s/member ] || mv %[1]s/member %[1]s.before-restore-%[2]s", m.DataDir, now),
			fmt.Sprintf("%s/etcdutl snapshot restore %s --name %s --data-dir %s --initial-cluster %s --initial-cluster-token restored --initial-advertise-peer-urls %s %s",
				kept, r.local(), m.Name, m.DataDir, strings.Join(all, ","), m.PeerURL, bump),
		}})
	}
	return stages
}

// members shows whether etcd is whole.
func (r *Restore) members() []Stage {
	if len(r.Members) == 0 {
		return nil
	}
	_, node := r.file()
	return []Stage{{fmt.Sprintf("Look whether etcd is whole: %d members, all healthy", len(r.Members)), []string{node},
		[]string{r.ctl("member list -w table"), r.ctl("endpoint health --cluster")}}}
}
