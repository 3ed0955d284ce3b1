// Package bed sets up what a test on the real lab needs: a cluster, bundles, Refit, an application and clients.
package bed

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/lab"
	"refit.dev/refit/lab/parts"
)

// The versions that the tests go between.
const (
	From = "v1.35.4"
	To   = "v1.36.3"
)

// Options say what to set up.
type Options struct {
	// Name of the lab.
	Name string
	// ControlPlanes and Workers are how many hosts of each.
	ControlPlanes, Workers int
	// From is the version to start at, To those to publish bundles of. Defaults: From and To.
	From string
	To   []string
	// NoImport leaves it to the caller to make the published versions known.
	NoImport bool
	// Log shows what is being done.
	Log io.Writer
}

// Bed is a cluster with Refit on it.
type Bed struct {
	// Lab is the cluster's hosts.
	Lab *lab.Lab
	// Client reads and writes the cluster as its administrator, through the load balancer.
	Client client.Client
	// Config is how to reach the cluster.
	Config *rest.Config
	// Kubeconfig is the path of the administrator's kubeconfig.
	Kubeconfig string

	root      string
	log       io.Writer
	published []string
}

// Up brings up a cluster, publishes the bundles, installs Refit and imports the bundles. On an error nothing is left.
func Up(ctx context.Context, o Options) (*Bed, error) {
	b, err := ClusterOnly(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := b.installRefit(ctx); err != nil {
		return nil, b.giveUp(ctx, err)
	}
	if o.NoImport {
		return b, nil
	}
	for _, v := range b.published {
		if err := b.Import(ctx, v); err != nil {
			return nil, b.giveUp(ctx, err)
		}
	}
	return b, nil
}

// Prepare builds what the cluster of Up and its bundles are made of, where the cache does not have it. Up does that, too, but whoever bounds it
// prepares before: the first time that takes half an hour, and more on a busy machine.
func Prepare(ctx context.Context, o Options) error {
	store, err := parts.OpenStore()
	if err != nil {
		return err
	}
	all, err := lab.UpgradeParts(o.complete().lab())
	if err != nil {
		return err
	}
	if err := store.Build(ctx, o.Log, all...); err != nil {
		return fmt.Errorf("build the lab's parts: %w", err)
	}
	return nil
}

func (o Options) complete() Options {
	if o.From == "" {
		o.From = From
	}
	if o.To == nil {
		o.To = []string{To}
	}
	return o
}

func (o Options) lab() lab.Options {
	return lab.Options{Name: o.Name, ControlPlanes: o.ControlPlanes, Workers: o.Workers, Version: o.From, Publish: o.To, Log: o.Log}
}

// ClusterOnly brings up a cluster with the bundles in its registry, and nothing of Refit in it.
func ClusterOnly(ctx context.Context, o Options) (*Bed, error) {
	o = o.complete()
	root, err := projectRoot()
	if err != nil {
		return nil, err
	}
	b := &Bed{root: root, log: o.Log, published: o.To}
	if _, err := os.Stat(b.Program("refit")); err != nil {
		return nil, fmt.Errorf("find Refit's programs, which `make build` makes (REFIT_BIN names another folder): %w", err)
	}
	if b.Lab, err = lab.Up(ctx, o.lab()); err != nil {
		return nil, fmt.Errorf("bring up the lab: %w", err)
	}
	b.Kubeconfig = b.Lab.Kubeconfig()
	if err := b.connect(); err != nil {
		return nil, b.giveUp(ctx, err)
	}
	for _, v := range o.To {
		if err := b.publishBundle(ctx, v); err != nil {
			return nil, b.giveUp(ctx, fmt.Errorf("publish the bundle of %s: %w", v, err))
		}
	}
	return b, nil
}

// Close removes the lab, and joins an error in doing so to what happened before. REFIT_KEEP=1 keeps the lab after a failure.
func (b *Bed) Close(ctx context.Context, before error) error {
	if before != nil {
		return b.giveUp(ctx, before)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer cancel()
	return b.Lab.Down(ctx)
}

// giveUp removes the lab after an error, unless REFIT_KEEP asks for it to stay.
func (b *Bed) giveUp(ctx context.Context, cause error) error {
	if os.Getenv("REFIT_KEEP") != "" {
		return fmt.Errorf("%w (the lab is left as it is: REFIT_KEEP is set)", cause)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer cancel()
	if err := b.Lab.Down(ctx); err != nil {
		return fmt.Errorf("%w; and removing the lab failed: %w", cause, err)
	}
	return cause
}

func (b *Bed) connect() error {
	ctrllog.SetLogger(logr.Discard())
	config, err := clientcmd.BuildConfigFromFlags("", b.Kubeconfig)
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.QPS, config.Burst, config.Timeout = 50, 100, 20*time.Second
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme, v1beta1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	b.Config = config
	b.Client, err = client.New(config, client.Options{Scheme: scheme})
	return err
}

// File is the path of a file of the checkout.
func (b *Bed) File(path ...string) string { return filepath.Join(append([]string{b.root}, path...)...) }

// projectRoot finds the checkout from the folder that the test runs in.
func projectRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "cmd", "refit")); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("run this inside the checkout of Refit")
}
