package bed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/lab"
)

// appDeadline bounds the start of the application.
const appDeadline = 3 * time.Minute

// DeployApp starts the web application of two replicas with its PodDisruptionBudget, and waits until it serves.
func (b *Bed) DeployApp(ctx context.Context) error {
	if err := b.Lab.PublishWebApp(ctx, b.log); err != nil {
		return err
	}
	documents := yaml.NewYAMLOrJSONDecoder(strings.NewReader(lab.WebAppManifest), 4096)
	for {
		var o unstructured.Unstructured
		if err := documents.Decode(&o.Object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("read the application's manifest: %w", err)
		}
		if err := b.Client.Create(ctx, &o); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("start the application: %w", err)
		}
	}
	err := wait.PollUntilContextTimeout(ctx, time.Second, appDeadline, true, func(ctx context.Context) (bool, error) {
		var d appsv1.Deployment
		if err := b.Client.Get(ctx, client.ObjectKey{Namespace: "webapp", Name: "webapp"}, &d); err != nil {
			return false, nil
		}
		return d.Status.AvailableReplicas == *d.Spec.Replicas, nil
	})
	if err != nil {
		return fmt.Errorf("wait for the application's replicas (look: kubectl -n webapp describe pods): %w", err)
	}
	return nil
}
