package wayback

import (
	"fmt"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/spec"
)

const (
	// stopKubelet also ends the step of Refit that the host is at: it would go on without any Pod.
	stopKubelet = "systemctl stop kubelet 'refit-*'"
	// forgetStep keeps the next boot from going on with it.
	forgetStep = "rm -f " + spec.InFlightPath
)

// stopContainers ends the static Pods, and Refit's own, with what every node has: crictl may not be there. Nobody starts them again while the kubelet is
// stopped. An API server without etcd does not end when it is asked to. The last command shows what still runs, and fails then.
var stopContainers = []string{
	`ids=$(ctr -n k8s.io containers ls -q 'labels."io.kubernetes.pod.namespace"==kube-system,` +
		`labels."io.kubernetes.container.name"~="^(etcd|kube-apiserver|kube-controller-manager|kube-scheduler)$"' ` +
		`'labels."io.kubernetes.pod.namespace"==refit-system')`,
	`for s in SIGTERM SIGKILL; do for id in $ids; do ctr -n k8s.io tasks kill -s $s $id 2>/dev/null || :; done; sleep 10; done`,
	`! { ctr -n k8s.io tasks ls | grep -F "${ids:-none}" | grep RUNNING; }`,
}

// programs puts the old programs back, by renaming: the running ones are replaced whole. A program that was kept under another version than the
// kubelet's stays as it is, which does for kubeadm and kubectl; the kubelet is looked at.
func programs(h *Host) []string {
	if h.Old == "" {
		return nil
	}
	look := "kubelet --version | grep -F " + h.Old
	if h.Dropped {
		return []string{fmt.Sprintf("# kubelet, kubeadm and kubectl %s are not kept here any more: install them, e.g. from their packages", h.Old), look}
	}
	return []string{fmt.Sprintf("for p in kubelet kubectl kubeadm; do [ ! -e /usr/bin/$p.refit-%[1]s ] || { cp -p /usr/bin/$p.refit-%[1]s /usr/bin/.$p.old && mv /usr/bin/.$p.old /usr/bin/$p; }; done", h.Old),
		look}
}

// manifests puts the old static Pods back but etcd's: a newer etcd reads the snapshot, and need not go back.
func manifests(h *Host) []string {
	if h.State == "" {
		return nil
	}
	pods := fmt.Sprintf("cp %s/manifests-old/kube-*.yaml /etc/kubernetes/manifests/", h.State)
	if !h.Guessed { // an upgrade that stopped early has changed none; a folder that is still to be looked up must be there
		pods = fmt.Sprintf("[ ! -d %s/manifests-old ] || ", h.State) + pods
	}
	return []string{pods,
		fmt.Sprintf("[ ! -d %[1]s/kubelet-old ] || cp %[1]s/kubelet-old/* /var/lib/kubelet/", h.State),
		"grep image: /etc/kubernetes/manifests/*.yaml"}
}

// forgetUpgrades puts aside what upgrades have noted on the host. The snapshot knows the upgrade under the same UID: resumed, it would take for
// done what the restore has undone.
const forgetUpgrades = "[ ! -d " + spec.StateDir + "/upgrades ] || mv " + spec.StateDir + "/upgrades " + spec.StateDir + "/upgrades.before-restore-" + now

// kubelets brings the kubelets back: those of the control planes, and the workers, together where the commands are the same.
func (r *Restore) kubelets() []Stage {
	back := []string{"kubeadm upgrade node phase kubelet-config", forgetUpgrades, "systemctl restart kubelet"}
	var stages []Stage
	if masters := r.names(true); len(masters) > 0 {
		stages = append(stages, Stage{"Bring the settings of the control planes' kubelets back", masters, back})
	}
	type same struct {
		old     string
		dropped bool
	}
	at := map[same]int{}
	for i := range r.Hosts {
		h := &r.Hosts[i]
		if h.ControlPlane {
			continue
		}
		key := same{h.Old, h.Dropped}
		if _, there := at[key]; !there {
			at[key] = len(stages)
			stages = append(stages, Stage{"Bring the workers' kubelets back", nil, append(programs(h), back...)})
		}
		s := &stages[at[key]]
		s.On = append(s.On, h.Name)
	}
	return stages
}

// holdUnit is the unit that holds Refit; its name is not one of Refit's own, which stopKubelet stops.
const holdUnit = "hold-refit"

// within bounds each request of the unit: an API server that is only half there must not keep it from trying again. The unit itself has no end
// but its success, whenever the control planes come up.
const within = "--request-timeout=10s"

// untilHeld is how long a person waits for the unit before looking for what is in the way.
const untilHeld = "10m"

// hold keeps Refit from beginning the upgrade again, which was under way when the snapshot was taken: the manager's Pods and maybe an upgrader
// are in it, and kubelets start them. It waits for the API before there is one, because a person may be too slow: a manager needs a quarter of a
// minute to lead, and an upgrader goes on by itself. The nodes' part is aborted as well, so that a manager that runs again has nothing to end first.
func (r *Restore) hold(master string) Stage {
	upgrade, nodes := "", ""
	if r.Snapshot != nil && r.Snapshot.upgrade != "" {
		upgrade, nodes = " "+r.Snapshot.upgrade, " --selector "+v1alpha1.LabelUpgrade+"="+r.Snapshot.upgrade
	}
	abort := func(list string) string {
		return `all=$(kubectl ` + list + ` -o name ` + within + `) && { [ -z "$all" ] || kubectl -n refit-system patch $all ` + within + ` --type=merge -p "{\"spec\":{\"abort\":true}}"; }`
	}
	script := "until " + abort("get kubernetesupgrades"+upgrade+" --ignore-not-found") + " && " + scale + "0 " + within +
		" && kubectl -n refit-system delete pods --selector app.kubernetes.io/name=refit-upgrader --wait=false " + within + " && " +
		abort("-n refit-system get nodeupgrades"+nodes) + "; do sleep 1; done"
	return Stage{"See to it that the upgrade is aborted, and Refit stopped, as soon as the API answers: the snapshot is of a time at which both were at work",
		[]string{master}, []string{"systemd-run --unit=" + holdUnit + " --setenv=KUBECONFIG=/etc/kubernetes/admin.conf sh -c '" + script + "'"}}
}
