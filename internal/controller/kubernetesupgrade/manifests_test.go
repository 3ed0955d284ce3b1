package kubernetesupgrade

import (
	"testing"

	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A Job may fail after the step was looked at and before it is applied once more: made anew then, nobody would ever hear of it.
func TestAJobThatFailedIsMadeAnewOnlyByAResume(t *testing.T) {
	g, s := NewWithT(t), newNetworkingStep(t)
	manifest := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "batch/v1", "kind": "Job",
		"metadata": map[string]any{"name": "migrate", "namespace": "kube-system"}}}
	key, job := client.ObjectKeyFromObject(manifest), &batchv1.Job{}
	g.Expect(s.Reconciler.apply(t.Context(), manifest, "first")).To(Succeed())
	g.Expect(s.Client.Get(t.Context(), key, job)).To(Succeed())
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
	g.Expect(s.Client.Status().Update(t.Context(), job)).To(Succeed())

	g.Expect(s.Reconciler.apply(t.Context(), manifest, "first")).To(Succeed())
	g.Expect(s.Client.Get(t.Context(), key, job)).To(Succeed(), "it is left, for the step to fail by it")
	g.Expect(s.Reconciler.apply(t.Context(), manifest, "second")).To(Succeed())
	g.Expect(apierrors.IsNotFound(s.Client.Get(t.Context(), key, job))).To(BeTrue())
	g.Expect(s.Reconciler.apply(t.Context(), manifest, "second")).To(Succeed())
	g.Expect(s.Client.Get(t.Context(), key, job)).To(Succeed())
	g.Expect(manifest.GetAnnotations()).To(BeEmpty(), "what was read is left as it is")
}
