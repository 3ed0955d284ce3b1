package kubernetesupgrade

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"refit.dev/refit/api/v1alpha1"
)

// source reads the ConfigMap that holds the manifests.
func (r *Reconciler) source(ctx context.Context, n *v1alpha1.Networking) (*corev1.ConfigMap, error) {
	cm := &corev1.ConfigMap{}
	if err := r.Client.Get(ctx, sourceOf(n), cm); err != nil {
		return nil, fmt.Errorf("read the networking manifests in ConfigMap %s: %w", sourceOf(n), err)
	}
	return cm, nil
}

func sourceOf(n *v1alpha1.Networking) client.ObjectKey {
	key := client.ObjectKey{Namespace: n.ConfigMap.Namespace, Name: n.ConfigMap.Name}
	if key.Namespace == "" {
		key.Namespace = v1alpha1.Namespace
	}
	return key
}

// documents are those of the ConfigMap, in the order of its keys.
func documents(cm *corev1.ConfigMap) ([]*unstructured.Unstructured, error) {
	key := client.ObjectKeyFromObject(cm)
	var out []*unstructured.Unstructured
	for _, name := range slices.Sorted(maps.Keys(cm.Data)) {
		documents := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(cm.Data[name])))
		for {
			text, err := documents.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("key %s of ConfigMap %s: %w", name, key, err)
			}
			o := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(text, &o.Object); err != nil {
				return nil, fmt.Errorf("key %s of ConfigMap %s: %w", name, key, err)
			}
			if len(o.Object) == 0 {
				continue
			}
			if o.GetKind() == "" || o.GetAPIVersion() == "" || o.GetName() == "" {
				return nil, fmt.Errorf("key %s of ConfigMap %s: a document lacks apiVersion, kind or metadata.name", name, key)
			}
			out = append(out, o)
		}
	}
	return out, nil
}

// apply writes one object by server-side apply. A Job cannot be changed: one that is there already is left to run. One that failed is made anew, but
// not one of this step, which is of one upgrade, version and resume: that it failed has not been seen yet, and is what the step comes to.
func (r *Reconciler) apply(ctx context.Context, o *unstructured.Unstructured, step string) error {
	wanted := o.DeepCopy()
	if isJob(o) {
		live := o.DeepCopy()
		err := r.Client.Get(ctx, client.ObjectKeyFromObject(o), live)
		if err == nil {
			if _, failed, _ := progress(live); !failed || live.GetAnnotations()[annotationNetworking] == step {
				return nil
			}
			err = r.Client.Delete(ctx, live, client.PropagationPolicy(metav1.DeletePropagationBackground))
			if client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("delete %s, which failed: %w", describe(o), err)
			}
			return nil
		}
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("look at %s: %w", describe(o), err)
		}
		annotations := wanted.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[annotationNetworking] = step
		wanted.SetAnnotations(annotations)
	}
	err := r.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted), client.FieldOwner(fieldOwner), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("apply %s: %w", describe(o), err)
	}
	return nil
}

func isJob(o *unstructured.Unstructured) bool {
	return o.GetKind() == "Job" && strings.HasPrefix(o.GetAPIVersion(), "batch/")
}

func describe(o *unstructured.Unstructured) string {
	if ns := o.GetNamespace(); ns != "" {
		return fmt.Sprintf("%s %s/%s", o.GetKind(), ns, o.GetName())
	}
	return fmt.Sprintf("%s %s", o.GetKind(), o.GetName())
}

// progress says whether what was applied has come to rest, or will not. What is no workload is done by being there.
func progress(o *unstructured.Unstructured) (done, failed bool, why string) {
	name := describe(o)
	switch o.GetAPIVersion() + "/" + o.GetKind() {
	case "batch/v1/Job":
		var j batchv1.Job
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &j); err != nil {
			return false, true, fmt.Sprintf("%s: %s", name, err)
		}
		for _, c := range j.Status.Conditions {
			if c.Status == corev1.ConditionTrue && c.Type == batchv1.JobComplete {
				return true, false, ""
			}
			if c.Status == corev1.ConditionTrue && c.Type == batchv1.JobFailed {
				return false, true, fmt.Sprintf("%s failed: %s (its log: kubectl -n %s logs job/%s)", name, c.Message, o.GetNamespace(), o.GetName())
			}
		}
		return false, false, name + " has not completed"
	case "apps/v1/DaemonSet":
		var d appsv1.DaemonSet
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &d); err != nil {
			return false, true, fmt.Sprintf("%s: %s", name, err)
		}
		s := d.Status
		done = s.ObservedGeneration >= d.Generation && s.UpdatedNumberScheduled >= s.DesiredNumberScheduled && s.NumberAvailable >= s.DesiredNumberScheduled
		return done, false, fmt.Sprintf("%s: %d of %d pods are updated, %d available", name, s.UpdatedNumberScheduled, s.DesiredNumberScheduled, s.NumberAvailable)
	case "apps/v1/Deployment":
		var d appsv1.Deployment
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &d); err != nil {
			return false, true, fmt.Sprintf("%s: %s", name, err)
		}
		want := int32(1)
		if d.Spec.Replicas != nil {
			want = *d.Spec.Replicas
		}
		s := d.Status
		done = s.ObservedGeneration >= d.Generation && s.UpdatedReplicas >= want && s.AvailableReplicas >= want
		return done, false, fmt.Sprintf("%s: %d of %d replicas are updated, %d available", name, s.UpdatedReplicas, want, s.AvailableReplicas)
	}
	return true, false, ""
}
