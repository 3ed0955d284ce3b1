// Package testcluster gives tests a real API server and etcd, with Refit's kinds installed and nothing else: no node, no
// controller, no kubelet.
package testcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/api/v1alpha1"
)

// assets is the variable that names the folder with etcd and kube-apiserver.
const assets = "KUBEBUILDER_ASSETS"

// startTimeout bounds the start of each of the two programs.
const startTimeout = 90 * time.Second

// Cluster is a running API server.
type Cluster struct {
	Config *rest.Config
	Scheme *k8sruntime.Scheme
	// Client reads and writes without a cache.
	Client client.WithWatch
}

// Scheme knows Kubernetes' kinds and Refit's.
func Scheme() *k8sruntime.Scheme {
	s := k8sruntime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(s))
	utilruntime.Must(v1alpha1.AddToScheme(s))
	utilruntime.Must(v1beta1.AddToScheme(s))
	return s
}

var (
	once        sync.Once
	environment *envtest.Environment
	running     *Cluster
	errStart    error
)

// Start gives the cluster of this test binary, which is started by whoever asks first. Where the programs are missing the
// test fails; it is never skipped.
func Start(t testing.TB) *Cluster {
	t.Helper()
	once.Do(func() { running, errStart = start() })
	if errStart != nil {
		t.Fatal(errStart)
	}
	return running
}

// Apply creates the objects of the manifests in a folder of config/, and leaves those alone that exist.
func (c *Cluster) Apply(ctx context.Context, folder string) error {
	files, err := filepath.Glob(filepath.Join(root(), "config", folder, "*.yaml"))
	if err != nil {
		return err
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
		for {
			o := &unstructured.Unstructured{}
			if err := decoder.Decode(o); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return fmt.Errorf("read %s: %w", file, err)
			}
			if err := c.Client.Create(ctx, o); err != nil && !apierrors.IsAlreadyExists(err) {
				return fmt.Errorf("create %s of %s: %w", o.GetName(), file, err)
			}
		}
	}
	return nil
}

// As is the configuration of a service account of Refit's namespace: what it may not do is refused.
func (c *Cluster) As(serviceAccount string) *rest.Config {
	config := rest.CopyConfig(c.Config)
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + v1alpha1.Namespace + ":" + serviceAccount,
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:" + v1alpha1.Namespace, "system:authenticated"},
	}
	return config
}

// Main is for TestMain: it runs the tests, stops the cluster if one of them started it, and gives the exit code back.
func Main(m *testing.M) int {
	code := m.Run()
	if environment != nil {
		if err := environment.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the API server:", err)
		}
	}
	return code
}

func start() (*Cluster, error) {
	if os.Getenv(assets) == "" {
		return nil, fmt.Errorf("%s is not set: it names the folder with etcd and kube-apiserver; `make test` sets it", assets)
	}
	log.SetLogger(logr.Discard())
	environment = &envtest.Environment{
		CRDDirectoryPaths:        []string{filepath.Join(root(), "config", "crd")},
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: startTimeout,
		ControlPlaneStopTimeout:  startTimeout,
	}
	environment.ControlPlane.Etcd = &envtest.Etcd{}
	environment.ControlPlane.Etcd.Configure().Append("unsafe-no-fsync", "true")
	config, err := environment.Start()
	if err != nil {
		return nil, fmt.Errorf("start the API server of %s=%s: %w", assets, os.Getenv(assets), err)
	}
	config.QPS, config.Burst = 500, 1000
	scheme := Scheme()
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("make a client of the API server: %w", err)
	}
	return &Cluster{Config: config, Scheme: scheme, Client: c}, nil
}

func root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}
