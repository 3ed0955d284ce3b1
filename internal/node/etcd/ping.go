package etcd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path"
	"time"

	"refit.dev/refit/internal/node/kubeapi"
	"refit.dev/refit/internal/node/task"
)

// Ping asks the local member, over HTTP, whether it serves reads with the quorum. It is cheap, so it may be asked often.
func Ping(ctx context.Context, t *task.Task) error {
	config, err := tlsConfig(t)
	if err != nil {
		return err
	}
	endpoint, err := LocalEndpoint(t)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var answer struct {
		Health string `json:"health"`
		Reason string `json:"reason"`
	}
	if err := kubeapi.New(endpoint, config).GetJSON(ctx, "/health", &answer); err != nil {
		return fmt.Errorf("etcd on this node: %w", err)
	}
	if answer.Health != "true" {
		return fmt.Errorf("etcd on this node is not healthy: %s", answer.Reason)
	}
	return nil
}

func tlsConfig(t *task.Task) (*tls.Config, error) {
	name := "healthcheck-client"
	if ok, err := t.Exists(path.Join(pki, name+".crt")); err != nil {
		return nil, err
	} else if !ok {
		name = "server"
	}
	pair, err := tls.LoadX509KeyPair(t.Path(path.Join(pki, name+".crt")), t.Path(path.Join(pki, name+".key")))
	if err != nil {
		return nil, fmt.Errorf("load etcd's client certificate: %w", err)
	}
	ca, err := os.ReadFile(t.Path(path.Join(pki, "ca.crt")))
	if err != nil {
		return nil, fmt.Errorf("read etcd's certificate authority: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, errors.New(path.Join(pki, "ca.crt") + " is not a PEM certificate")
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool, Certificates: []tls.Certificate{pair}}, nil
}
