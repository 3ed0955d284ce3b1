package clusterversion

import (
	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

// bring makes OpenShift's spec what is wanted, and names the fields that it changed. desiredUpdate is left alone. So is clusterID where
// none is wanted, as OpenShift requires one; every other field that is wanted empty is emptied.
func bring(spec *configv1.ClusterVersionSpec, want v1beta1.OverlaySpec) []string {
	var changed []string
	if want.ClusterID != "" {
		changed = set(changed, "clusterID", &spec.ClusterID, want.ClusterID)
	}
	changed = set(changed, "upstream", &spec.Upstream, want.Upstream)
	changed = set(changed, "channel", &spec.Channel, want.Channel)
	changed = set(changed, "capabilities", &spec.Capabilities, want.Capabilities)
	changed = set(changed, "signatureStores", &spec.SignatureStores, want.SignatureStores)
	return set(changed, "overrides", &spec.Overrides, want.Overrides)
}

// set sets a field where it differs, and then adds its name. An absent list and an empty one are the same.
func set[T any](changed []string, name string, field *T, want T) []string {
	if equality.Semantic.DeepEqual(*field, want) {
		return changed
	}
	*field = want
	return append(changed, name)
}
