package oci

import (
	"fmt"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/bundle"
)

// Object is the KubernetesVersion that a bundle stands for. Repository is the name, without tag, under which nodes pull
// the image.
func Object(m bundle.Manifest, repository string, digest v1.Hash) (*v1alpha1.KubernetesVersion, error) {
	if _, err := name.NewRepository(repository); err != nil {
		return nil, fmt.Errorf("read image repository %q: %w", repository, err)
	}
	return &v1alpha1.KubernetesVersion{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "KubernetesVersion"},
		ObjectMeta: metav1.ObjectMeta{Name: m.Version},
		Spec: v1alpha1.KubernetesVersionSpec{
			Version:          m.Version,
			UpgradeFrom:      m.UpgradeFrom,
			DowngradeTo:      m.DowngradeTo,
			AppliedPatches:   m.AppliedPatches,
			AvailablePatches: m.AvailablePatches,
			Image:            repository + "@" + digest.String(),
			Components:       m.Components,
			Networking:       m.Networking,
		},
	}, nil
}
