package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
)

// notInstalledError says that the cluster does not know Refit's kinds.
type notInstalledError struct{}

func (notInstalledError) Error() string {
	return "Refit is not installed in this cluster: run `refit install`"
}

// explain adds to an error of the API server, or of the way to it, what a person can do about it.
func explain(err error) error {
	var away *url.Error
	var network net.Error
	switch {
	case meta.IsNoMatchError(err):
		return notInstalledError{}
	case apierrors.IsForbidden(err):
		return fmt.Errorf("this kubeconfig's user lacks a right: %w\nUse another --context or --kubeconfig, or have the right granted", err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the API server does not accept this kubeconfig's credentials (expired?): %w", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("this took longer than --timeout allows: %w", err)
	case errors.As(err, &away), errors.As(err, &network):
		return fmt.Errorf("the API server does not answer: %w\nCheck --kubeconfig and --context, and that the cluster runs", err)
	}
	return err
}
