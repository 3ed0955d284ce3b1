package cli

import (
	"context"
	"crypto/tls"
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

// toldError says by itself what was tried and what can be done: nothing is to be added to it.
type toldError struct {
	err error
	// remedy is empty where err names it.
	remedy string
}

func (e *toldError) Error() string {
	if e.remedy == "" {
		return e.err.Error()
	}
	return e.err.Error() + "\n" + e.remedy
}
func (e *toldError) Unwrap() error { return e.err }

// explain adds to an error of the API server, or of the way to it, what a person can do about it.
func explain(err error) error {
	var told *toldError
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(err, &told):
		return err
	case meta.IsNoMatchError(err):
		return notInstalledError{}
	case apierrors.IsForbidden(err):
		return fmt.Errorf("this kubeconfig's user lacks a right: %w\nUse another --context or --kubeconfig, or have the right granted", err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the API server does not accept this kubeconfig's credentials (expired?): %w", err)
	case errors.As(err, &untrusted):
		return fmt.Errorf("the API server's certificate is not trusted: %w\nIs this the right kubeconfig, and --server a name that the certificate holds?", err)
	case errors.Is(err, context.DeadlineExceeded) && onTheWay(err):
		return fmt.Errorf("the API server did not answer in time: %w\nCheck --kubeconfig and --context, and that the cluster runs; --timeout allows more time", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("this took longer than --timeout allows: %w", err)
	case onTheWay(err):
		return fmt.Errorf("the API server does not answer: %w\nCheck --kubeconfig and --context, and that the cluster runs", err)
	}
	return err
}

// onTheWay says whether a server was not reached, or its answer did not come. net.Error would not do: every error of the
// operating system is one, that of a file that does not exist included.
func onTheWay(err error) bool {
	var asked *url.Error
	var network *net.OpError
	var lookup *net.DNSError
	return errors.As(err, &asked) || errors.As(err, &network) || errors.As(err, &lookup)
}
