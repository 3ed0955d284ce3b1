package nodeupgrade

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/rollout"
)

// ended deals with a Pod that did not succeed: it is counted once, and started again after a pause, within limits.
func (d *decider) ended(role Role, pod *corev1.Pod, v verdict) {
	if d.s.CountedPodUID == string(pod.UID) {
		if at := v.ended.Add(d.pause(v)); d.o.Now.Before(at) {
			d.wake(at)
			return
		}
		d.action = DeletePod{Name: pod.Name, UID: pod.UID}
		return
	}
	d.s.CountedPodUID = string(pod.UID)
	what := d.what(role, v)
	switch v.outcome {
	case outRefused:
		d.fail(ReasonRefused, what)
	case outRolledBack:
		d.fail(ReasonRolledBack, what)
	case outImageUnavailable:
		d.fail(ReasonImageUnavailable, what+d.untouched())
	case outNotStarted:
		d.fail(ReasonPodNotStarted, fmt.Sprintf("Pod %s did not start within %s: %s%s", pod.Name, duration.HumanDuration(d.l.PodStart), v.message, d.untouched()))
	case outStuck:
		d.fail(ReasonDeadlineExceeded, what+": look at its logs, then "+d.retry())
	case outDrainTimedOut:
		d.drainTimedOut(what)
	case outInterrupted:
		d.s.Interruptions++
		if !d.tooMany(what) {
			d.again(ReasonInterrupted, what, v)
		}
	default:
		d.s.Attempts++
		if d.s.Attempts >= d.l.Attempts {
			d.fail(failedReason(role), fmt.Sprintf("%s (attempt %d of %d): see to the cause, then %s%s",
				what, d.s.Attempts, d.l.Attempts, d.retry(), d.untouched()))
			return
		}
		d.again(ReasonRetrying, fmt.Sprintf("%s (attempt %d of %d)", what, d.s.Attempts, d.l.Attempts), v)
	}
}

func failedReason(role Role) string {
	if role == RoleEtcdBackup {
		return ReasonEtcdCopyFailed
	}
	return ReasonStepFailed
}

func (d *decider) what(role Role, v verdict) string {
	switch {
	case role == RoleEtcdBackup:
		return "the copy of etcd to another control plane failed: " + v.message
	case v.outcome == outInterrupted && v.step != "":
		return fmt.Sprintf("step %s was interrupted: %s", v.step, v.message)
	case v.step != "":
		return fmt.Sprintf("step %s: %s", v.step, v.message)
	}
	return v.message
}

func (d *decider) untouched() string {
	if d.s.Touched() {
		return ""
	}
	return "; the node is untouched"
}

func (d *decider) drainTimedOut(what string) {
	policy := spec.DrainFrom(d.o.Upgrade.Spec.Drain)
	if policy.OnTimeout == v1alpha1.DrainSkip {
		d.end(v1alpha1.NodeSkipped, ReasonSkipped, what+"; as its policy says, the node stays at the old version")
		return
	}
	d.fail(ReasonDrainTimedOut, what)
}

func (d *decider) again(reason, message string, v verdict) {
	pause := d.pause(v)
	d.wake(v.ended.Add(pause))
	d.ready(reason, fmt.Sprintf("%s; it is started again after %s", message, duration.HumanDuration(pause)))
}

func (d *decider) tooMany(what string) bool {
	if d.s.Interruptions <= d.l.Interruptions {
		return false
	}
	d.fail(ReasonTooManyInterruptions, fmt.Sprintf("interrupted %d times, the last time: %s: see to the node, then %s", d.s.Interruptions, what, d.retry()))
	return true
}

func (d *decider) pause(v verdict) time.Duration {
	if v.outcome == outInterrupted {
		return d.l.backoff(d.l.InterruptionBackoff, d.s.Interruptions)
	}
	return d.l.backoff(d.l.FailureBackoff, d.s.Attempts)
}

// spec is what a Pod of that role is told.
func (d *decider) spec(role Role) spec.Spec {
	nu := d.o.Upgrade
	s := spec.Spec{
		UpgradeUID:  string(nu.UID),
		UpgradeName: nu.Name,
		NodeName:    nu.Spec.Machine.Name,
		NodeUID:     d.s.NodeUID,
		Version:     nu.Spec.KubernetesVersion,
		FromVersion: d.s.FromVersion,
		NodeType:    nu.Spec.NodeType,
		First:       nu.Spec.FirstNodeToBeUpgraded && nu.Spec.NodeType == v1alpha1.NodeTypeControlPlane,
		Drain:       spec.DrainFrom(nu.Spec.Drain),
		Attempt:     int(d.s.Retried)*100 + int(d.s.Attempts+d.s.Interruptions) + 1,
	}
	if d.o.Version != nil {
		s.Image = d.o.Version.Spec.Image
	}
	switch role {
	case RoleUpgrader:
		s.DrainNode, s.DrainReason = rollout.Drains(&d.o.Cluster, s.NodeName, s.Version, nu.Spec.Drain)
	case RoleEtcdBackup:
		if peers := d.o.peers(); len(peers) > 0 {
			peer := peers[int(d.s.Attempts)%len(peers)]
			s.NodeName, s.NodeUID = peer.Name, peer.UID
		}
		s.BackupOf, s.BackupEndpoint = nu.Spec.Machine.Name, endpoint(d.o.Node)
	}
	return s
}
