package kubernetesupgrade

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/rollout"
)

const (
	// defaultVerifyTimeout applies where the plan names none.
	defaultVerifyTimeout = 30 * time.Minute
	// verifyMargin is how much longer than its own deadline a Job may take to be called failed.
	verifyMargin = time.Minute
	// longestJobName is that of a Job whose Pods carry it as a label.
	longestJobName = 63
)

// verifications looks at the Jobs of the groups that are being verified.
func (r *Reconciler) verifications(ctx context.Context, t *turn) map[string]rollout.Verification {
	plan, err := rollout.PlanOf(t.seen, t.upgrade.Spec.Plan)
	if err != nil {
		return nil
	}
	out := map[string]rollout.Verification{}
	for i := range plan.Groups {
		g := &plan.Groups[i]
		if g.Verify == nil || !verifying(t.upgrade, g.Name) {
			continue
		}
		v := r.verification(ctx, t.upgrade, g)
		v.Resume = t.upgrade.Spec.Resume
		out[g.Name] = v
	}
	return out
}

// verifying says that the verification of a group was asked for, by the status: before that there is nothing to look at.
func verifying(u *v1alpha1.KubernetesUpgrade, group string) bool {
	for _, g := range u.Status.Groups {
		if g.Name == group {
			return g.State == v1alpha1.GroupVerifying
		}
	}
	return false
}

func (r *Reconciler) verification(ctx context.Context, u *v1alpha1.KubernetesUpgrade, g *v1alpha1.NodeGroup) rollout.Verification {
	name := verifyName(u, g.Name)
	if why, refused := r.refused.Load(name); refused {
		return rollout.Verification{Failed: fmt.Sprint(why)}
	}
	// As unstructured it is read from the API server: the cache keeps the Jobs of hooks alone.
	seen := &unstructured.Unstructured{}
	seen.SetGroupVersionKind(batchv1.SchemeGroupVersion.WithKind("Job"))
	if err := r.Client.Get(ctx, client.ObjectKey{Namespace: v1alpha1.Namespace, Name: name}, seen); err != nil {
		return rollout.Verification{} // not there yet, or not to be seen: it is asked again
	}
	var job batchv1.Job
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(seen.Object, &job); err != nil {
		return rollout.Verification{}
	}
	for _, c := range job.Status.Conditions {
		switch {
		case c.Status != corev1.ConditionTrue:
		case c.Type == batchv1.JobComplete:
			return rollout.Verification{Done: true}
		case c.Type == batchv1.JobFailed:
			return rollout.Verification{Failed: fmt.Sprintf("Job %s: %s (see `kubectl -n %s logs job/%s`)", name, cmp.Or(c.Message, c.Reason), v1alpha1.Namespace, name)}
		}
	}
	if limit := verifyTimeout(g.Verify) + verifyMargin; r.Clock.Since(job.CreationTimestamp.Time) > limit {
		return rollout.Verification{Failed: fmt.Sprintf("Job %s did not end within %s", name, duration.HumanDuration(limit))}
	}
	return rollout.Verification{}
}

func verifyTimeout(v *v1alpha1.Verification) time.Duration {
	if v.Timeout == nil || v.Timeout.Duration <= 0 {
		return defaultVerifyTimeout
	}
	return v.Timeout.Duration
}

// runVerification makes the Job of a group. That it exists already is no error: its name says what it is for.
func (r *Reconciler) runVerification(ctx context.Context, t *turn, a rollout.Action) error {
	plan, err := rollout.PlanOf(t.seen, t.upgrade.Spec.Plan)
	if err != nil {
		return err
	}
	for i := range plan.Groups {
		if plan.Groups[i].Name != a.Name || plan.Groups[i].Verify == nil {
			continue
		}
		if why := plan.Groups[i].Verify.Template.Problem; why != "" {
			r.refused.Store(verifyName(t.upgrade, a.Name), "its template cannot be read: "+why)
			continue
		}
		job := verifyJob(t.upgrade, &plan.Groups[i], a.Version)
		err := r.Client.Create(ctx, job)
		switch {
		case apierrors.IsInvalid(err), apierrors.IsForbidden(err), apierrors.IsBadRequest(err):
			r.refused.Store(job.Name, "the API server refuses its Job: "+err.Error())
		case err != nil && !apierrors.IsAlreadyExists(err):
			return fmt.Errorf("create Job %s: %w", job.Name, err)
		}
	}
	return nil
}

func verifyJob(u *v1alpha1.KubernetesUpgrade, g *v1alpha1.NodeGroup, version string) *batchv1.Job {
	template := g.Verify.Template.DeepCopy()
	job := &batchv1.Job{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	job.Namespace, job.Name, job.GenerateName = v1alpha1.Namespace, verifyName(u, g.Name), ""
	job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(u, kind)}
	metav1.SetMetaDataLabel(&job.ObjectMeta, v1alpha1.LabelUpgrade, u.Name)
	if job.Spec.ActiveDeadlineSeconds == nil {
		job.Spec.ActiveDeadlineSeconds = ptr.To(int64(verifyTimeout(g.Verify).Seconds()))
	}
	pod := &job.Spec.Template.Spec
	if pod.RestartPolicy == "" { // the default of a Pod, Always, is none for a Job
		pod.RestartPolicy = corev1.RestartPolicyNever
	}
	env := []corev1.EnvVar{{Name: "REFIT_UPGRADE", Value: u.Name}, {Name: "REFIT_GROUP", Value: g.Name}, {Name: "REFIT_VERSION", Value: version}}
	for i := range pod.Containers {
		pod.Containers[i].Env = append(append([]corev1.EnvVar{}, env...), pod.Containers[i].Env...)
	}
	return job
}

// verifyName is the Job of a group's verification. One that is resumed is verified anew.
func verifyName(u *v1alpha1.KubernetesUpgrade, group string) string {
	name := fmt.Sprintf("verify-%s-%s-%d", u.Name, group, u.Spec.Resume)
	if len(name) <= longestJobName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	hash := "-" + hex.EncodeToString(sum[:])[:12]
	return strings.TrimRight(name[:longestJobName-len(hash)], "-.") + hash
}
