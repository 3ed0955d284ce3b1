package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/maintenance"
)

// longestName is that of a Job whose Pods carry it as a label.
const longestName = 63

// Job is the Job of a hook for a moment of an upgrade. The injected variables come before the template's own, so that those may refer
// to them, and to the arguments.
func Job(h *v1beta1.UpgradeJobHook, job *v1beta1.UpgradeJob, e Event) (*batchv1.Job, error) {
	if why := h.Spec.Template.Problem; why != "" {
		return nil, fmt.Errorf("spec.template of UpgradeJobHook %s cannot be read: %s", h.Name, why)
	}
	env, err := environment(h, job, e)
	if err != nil {
		return nil, err
	}
	template := h.Spec.Template.DeepCopy()
	out := &batchv1.Job{ObjectMeta: *template.ObjectMeta.DeepCopy(), Spec: template.Spec}
	out.Name, out.Namespace, out.GenerateName = Name(job.Name, h.Name, e.Name, e.Pool), job.Namespace, ""
	out.Labels, out.Annotations = maps.Clone(out.Labels), maps.Clone(out.Annotations)
	for key, value := range map[string]string{v1beta1.LabelHook: label(h.Name), v1beta1.LabelJob: label(job.Name), v1beta1.LabelEvent: string(e.Name)} {
		metav1.SetMetaDataLabel(&out.ObjectMeta, key, value)
	}
	metav1.SetMetaDataAnnotation(&out.ObjectMeta, v1beta1.LabelHook, h.Name)
	metav1.SetMetaDataAnnotation(&out.ObjectMeta, v1beta1.AnnotationTrackingKey, e.Pool)
	out.Finalizers = []string{v1beta1.FinalizerHookJob}
	out.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, v1beta1.GroupVersion.WithKind("UpgradeJob"))}
	pod := &out.Spec.Template.Spec
	for _, containers := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range containers {
			containers[i].Env = append(append([]corev1.EnvVar{}, env...), containers[i].Env...)
		}
	}
	if pod.RestartPolicy == "" { // the default of a Pod, Always, is none for a Job
		pod.RestartPolicy = corev1.RestartPolicyNever
	}
	return out, nil
}

// Name of the Job: from the job, the hook, the event and the pool, so that it is made once however often it is asked for.
func Name(job, hook string, e v1beta1.HookEvent, pool string) string {
	parts := []string{job, hook, strings.ToLower(string(e))}
	if pool != "" {
		parts = append(parts, pool)
	}
	return short(strings.Join(parts, "-"))
}

// label is a name as it can be the value of a label.
func label(name string) string { return short(name) }

// JobLabel is the value of LabelJob for an UpgradeJob.
func JobLabel(name string) string { return label(name) }

// short is a name of at most 63 characters: a longer one ends with a hash of the whole.
func short(name string) string {
	if len(name) <= longestName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	hash := "-" + hex.EncodeToString(sum[:])[:12]
	return strings.TrimRight(name[:longestName-len(hash)], "-.") + hash
}

// Run is what became of a hook's Job.
func Run(j *batchv1.Job) maintenance.Run {
	r := maintenance.Run{Name: j.Name, Hook: j.Annotations[v1beta1.LabelHook], Event: v1beta1.HookEvent(j.Labels[v1beta1.LabelEvent]),
		TrackingKey: j.Annotations[v1beta1.AnnotationTrackingKey]}
	for _, f := range j.Finalizers {
		r.Held = r.Held || f == v1beta1.FinalizerHookJob
	}
	for _, c := range j.Status.Conditions {
		if c.Status != corev1.ConditionTrue {
			continue
		}
		switch c.Type {
		case batchv1.JobComplete:
			r.Ended = true
		case batchv1.JobFailed:
			r.Ended, r.Failed, r.Message = true, true, c.Reason
			if c.Message != "" {
				r.Message += ": " + c.Message
			}
		}
	}
	if j.DeletionTimestamp != nil && !r.Ended {
		r.Ended, r.Failed, r.Message = true, true, "its Job was deleted before it ended; it is not run again"
	}
	return r
}
