package kubernetesupgrade

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

// annotationNetworking is set on a KubernetesUpgrade when a networking step begins, before anything is applied, and follows it; and on the Jobs
// of a step, where it says of which.
const annotationNetworking = "refit.dev/networking"

// networkingRecord is what is known of the networking step begun last.
type networkingRecord struct {
	Version   string      `json:"version,omitempty"`
	StartedAt metav1.Time `json:"startedAt,omitempty"`
	Resume    int64       `json:"resume,omitempty"`
	// Applied says that every manifest has been. Until then, what runs well is what was there before.
	Applied bool `json:"applied,omitempty"`
	// Problem is why the API server does not take a manifest; nil while it takes them.
	Problem *problem `json:"problem,omitempty"`
}

func recordOf(u *v1alpha1.KubernetesUpgrade) (networkingRecord, error) {
	var r networkingRecord
	text, ok := u.Annotations[annotationNetworking]
	if !ok {
		return r, nil
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return r, fmt.Errorf("read annotation %s of KubernetesUpgrade %s (remove the annotation to run the step again): %w", annotationNetworking, u.Name, err)
	}
	return r, nil
}

// record keeps what is known of the step, where that has changed.
func (r *Reconciler) record(ctx context.Context, t *turn, next networkingRecord) error {
	if equality.Semantic.DeepEqual(t.networking, next) {
		return nil
	}
	text, err := json.Marshal(next)
	if err != nil {
		return err
	}
	patch := client.MergeFromWithOptions(t.upgrade.DeepCopy(), client.MergeFromWithOptimisticLock{})
	metav1.SetMetaDataAnnotation(&t.upgrade.ObjectMeta, annotationNetworking, string(text))
	if err := r.Client.Patch(ctx, t.upgrade, patch); err != nil {
		return fmt.Errorf("record where the networking step stands: %w", err)
	}
	t.networking = next
	return nil
}
