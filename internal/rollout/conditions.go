package rollout

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/gate"
	"refit.dev/refit/internal/snapshot"
)

// conditions sets what `kubectl wait` waits for.
func (d *ControlPlaneDecision) conditions(in ControlPlaneInput, f *field) {
	ready := metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: "Upgrading", Message: d.Status.Waiting}
	switch {
	case d.Status.Ready:
		ready.Status, ready.Reason, ready.Message = metav1.ConditionTrue, "Upgraded", fmt.Sprintf("%d control planes run %s", d.Status.Upgraded, in.Upgrade.Spec.KubernetesVersion)
	case f.failed() != nil:
		ready.Reason, ready.Message = "NodeFailed", f.failed().failed()
	case in.Upgrade.Spec.Paused:
		ready.Reason = "Paused"
	}
	open := metav1.Condition{Type: v1alpha1.ConditionGatesOpen, Status: metav1.ConditionTrue, Reason: "Open", Message: "no gate holds the next control plane up"}
	if why := gate.Summary(d.Gates); why != "" {
		open.Status, open.Reason, open.Message = metav1.ConditionFalse, "Closed", why
	}
	for _, c := range []metav1.Condition{ready, open} {
		setCondition(&d.Status.Conditions, c, in.Cluster, in.Upgrade.Generation)
	}
}

// setCondition dates a change by the observation's clock.
func setCondition(to *[]metav1.Condition, c metav1.Condition, cluster *snapshot.Cluster, generation int64) {
	c.LastTransitionTime, c.ObservedGeneration = metav1.NewTime(cluster.Now), generation
	meta.SetStatusCondition(to, c)
}
