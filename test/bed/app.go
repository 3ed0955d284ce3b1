package bed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
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

// answersInARow is how many requests the application must have answered before it counts as served: enough for the load balancer to
// have tried every node.
const answersInARow = 30

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
	return b.awaitEntrance(ctx)
}

// awaitEntrance waits until the application answers through the load balancer, which finds out about each node by itself.
func (b *Bed) awaitEntrance(ctx context.Context) error {
	// A client of its own: a connection that is kept would ask one node only.
	probe := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	last, inARow := error(nil), 0
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, appDeadline, true, func(context.Context) (bool, error) {
		response, err := probe.Get(b.ApplicationURL())
		if err == nil && response.StatusCode != http.StatusOK {
			err = fmt.Errorf("HTTP status %s", response.Status)
		}
		if response != nil {
			err = errors.Join(err, response.Body.Close())
		}
		if last = err; err != nil {
			inARow = 0
			return false, nil
		}
		inARow++
		return inARow == answersInARow, nil
	})
	if err != nil {
		return fmt.Errorf("wait for the application at %s: %w", b.ApplicationURL(), errors.Join(err, last))
	}
	return nil
}

// ApplicationURL is where the application answers, through the load balancer.
func (b *Bed) ApplicationURL() string { return "http://" + b.Lab.ApplicationAddress() + "/" }
