package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"refit.dev/refit/api/v1alpha1"
)

// programTimeout bounds the start and the end of each of the two programs.
const programTimeout = 90 * time.Second

// cluster is a running API server with Refit installed, but without its Deployment.
type cluster struct {
	config      *rest.Config
	environment *envtest.Environment
	client      client.Client
	typed       kubernetes.Interface
	scheme      *runtime.Scheme
	// dir is scratch, with the administrator's kubeconfig.
	dir, kubeconfig string
	// flowSchemas are the UIDs of Refit's own.
	flowSchemas []string
}

// startCluster starts the API server and installs what `refit install` does. On an error nothing is left.
func startCluster(ctx context.Context, assets, dir string) (_ *cluster, err error) {
	c := &cluster{dir: dir, kubeconfig: filepath.Join(dir, "admin.kubeconfig"), scheme: runtime.NewScheme(), environment: &envtest.Environment{
		BinaryAssetsDirectory:    assets,
		CRDDirectoryPaths:        []string{filepath.Join(root(), "config", "crd")},
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: programTimeout,
		ControlPlaneStopTimeout:  programTimeout,
	}}
	etcd := &envtest.Etcd{}
	// The disk of a simulation need not survive, and is not what is measured.
	etcd.Configure().Append("unsafe-no-fsync", "true").Append("quota-backend-bytes", "8589934592")
	c.environment.ControlPlane.Etcd = etcd
	c.config, err = c.environment.Start()
	defer func() {
		if err != nil {
			err = errors.Join(err, c.stop())
		}
	}()
	if err != nil {
		return nil, fmt.Errorf("start the API server of %s: %w", assets, err)
	}
	c.config.QPS = -1
	if err := c.connect(); err != nil {
		return nil, err
	}
	if err := os.WriteFile(c.kubeconfig, c.environment.KubeConfig, 0o600); err != nil {
		return nil, fmt.Errorf("write the kubeconfig: %w", err)
	}
	for _, file := range []string{"manager/namespace.yaml", "rbac/*.yaml", "manager/flowschema.yaml"} {
		if err := c.apply(ctx, file); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *cluster) connect() (err error) {
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(c.scheme); err != nil {
			return err
		}
	}
	if c.client, err = client.New(c.config, client.Options{Scheme: c.scheme}); err != nil {
		return fmt.Errorf("make a client of the API server: %w", err)
	}
	c.typed, err = kubernetes.NewForConfig(c.config)
	return err
}

// apply creates the objects of files of config/.
func (c *cluster) apply(ctx context.Context, pattern string) error {
	files, err := filepath.Glob(filepath.Join(root(), "config", pattern))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no file is like %s: %w", pattern, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := c.create(ctx, data); err != nil {
			return fmt.Errorf("apply %s: %w", file, err)
		}
	}
	return nil
}

func (c *cluster) create(ctx context.Context, documents []byte) error {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(documents), 4096)
	for {
		o := &unstructured.Unstructured{}
		if err := decoder.Decode(o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := c.client.Create(ctx, o); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create %s: %w", o.GetName(), err)
		}
		if o.GetKind() == "FlowSchema" {
			c.flowSchemas = append(c.flowSchemas, string(o.GetUID()))
		}
	}
}

func (c *cluster) stop() error {
	if err := c.environment.Stop(); err != nil {
		return fmt.Errorf("stop the API server: %w", err)
	}
	return nil
}
