package install

import (
	"context"
	"errors"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ErrNotKubeadm says that the cluster is not one that Refit upgrades.
var ErrNotKubeadm = errors.New("this cluster was not made by kubeadm (it has no ConfigMap kube-system/kubeadm-config): Refit upgrades kubeadm clusters only; check --context")

// MissingRightsError says what the user may not do.
type MissingRightsError struct {
	// Rights are verb and resource, e.g. "create deployments.apps in refit-system".
	Rights []string
}

// Error names every right that is missing.
func (e *MissingRightsError) Error() string {
	return "this kubeconfig's user lacks rights that installing Refit needs: " + strings.Join(e.Rights, ", ") +
		"; use an administrator's kubeconfig (kubeadm leaves one in /etc/kubernetes/admin.conf)"
}

// Check makes sure, before anything is changed, that the cluster is kubeadm's or OpenShift and that the user may apply the objects.
func Check(ctx context.Context, c client.Client, objects []*unstructured.Unstructured, verbs ...string) error {
	if err := checkRights(ctx, c, objects, verbs); err != nil {
		return err
	}
	return CheckCluster(ctx, c)
}

// CheckGrants makes sure that the user may grant the rights that the manager gets: the API server lets nobody grant more
// than he has. Nothing is changed.
func CheckGrants(ctx context.Context, c client.Client, objects []*unstructured.Unstructured) error {
	var missing []string
	for _, o := range objects {
		inExisting := o.GetKind() == "ClusterRole" || o.GetKind() == "Role" && o.GetNamespace() == metav1.NamespaceSystem
		if !inExisting {
			continue
		}
		err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(o.DeepCopy()), fieldOwner, client.ForceOwnership, client.DryRunAll)
		switch {
		case apierrors.IsForbidden(err):
			missing = append(missing, "grant what "+Name(o)+" allows")
		case err != nil:
			return fmt.Errorf("try to apply %s: %w", Name(o), err)
		}
	}
	if len(missing) > 0 {
		return &MissingRightsError{Rights: missing}
	}
	return nil
}

// CheckKubeadm gives ErrNotKubeadm for a cluster that kubeadm did not make.
func CheckKubeadm(ctx context.Context, c client.Reader) error {
	var config corev1.ConfigMap
	err := c.Get(ctx, client.ObjectKey{Namespace: "kube-system", Name: "kubeadm-config"}, &config)
	if apierrors.IsNotFound(err) {
		return ErrNotKubeadm
	}
	if err != nil {
		return fmt.Errorf("look whether the cluster is kubeadm's: %w", err)
	}
	return nil
}

func checkRights(ctx context.Context, c client.Client, objects []*unstructured.Unstructured, verbs []string) error {
	var missing []string
	asked := map[string]bool{}
	for _, o := range objects {
		resource := resourceOf(c.RESTMapper(), o.GroupVersionKind())
		for _, verb := range verbs {
			right := verb + " " + resource.GroupResource().String()
			if o.GetNamespace() != "" {
				right += " in " + o.GetNamespace()
			}
			if asked[right] {
				continue
			}
			asked[right] = true
			allowed, err := may(ctx, c, verb, resource, o.GetNamespace())
			if err != nil {
				return err
			}
			if !allowed {
				missing = append(missing, right)
			}
		}
	}
	if len(missing) > 0 {
		return &MissingRightsError{Rights: missing}
	}
	return nil
}

func may(ctx context.Context, c client.Client, verb string, resource schema.GroupVersionResource, namespace string) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Group: resource.Group, Version: resource.Version,
			Resource: resource.Resource, Namespace: namespace},
	}}
	if err := c.Create(ctx, review); err != nil {
		return false, fmt.Errorf("ask which rights this kubeconfig has: %w", err)
	}
	return review.Status.Allowed, nil
}

// resourceOf is the resource of a kind, guessed where the cluster does not know the kind yet.
func resourceOf(mapper meta.RESTMapper, kind schema.GroupVersionKind) schema.GroupVersionResource {
	if mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version); err == nil {
		return mapping.Resource
	}
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	return plural
}
