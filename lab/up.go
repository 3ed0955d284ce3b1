package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/utils/clock"

	"refit.dev/refit/lab/address"
	"refit.dev/refit/lab/engine"
	"refit.dev/refit/lab/kubeadm"
	"refit.dev/refit/lab/parts"
	"refit.dev/refit/lab/timeline"
)

// Costs of the steps on the longest path, measured on two cores; they only feed the display of what is left.
const (
	costImport = 5 * time.Second
	costBoot   = 5 * time.Second
	costPush   = 8 * time.Second
	costPull   = 10 * time.Second
	costInit   = 12 * time.Second
	costJoin   = 15 * time.Second
	costReady  = 15 * time.Second
)

// cleanupDeadline bounds the removal of what a failed bring-up leaves.
const cleanupDeadline = 3 * time.Minute

// Up brings up a lab and returns when its nodes are ready and its name server answers. What it made it removes again
// where that fails, unless Options.Keep is set. A lab of that name and shape that is there already is returned as it is.
func Up(ctx context.Context, o Options) (*Lab, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	rights, err := engine.Check(ctx)
	if err != nil {
		return nil, err
	}
	if l, err := existing(ctx, o); l != nil || err != nil {
		return l, err
	}
	b, err := newBringUp(o, rights)
	if err != nil {
		return nil, err
	}
	if err := b.store.Build(ctx, o.Log, b.parts()...); err != nil {
		return nil, fmt.Errorf("build the lab's parts: %w", err)
	}
	b.time = timeline.New(o.Log, clock.RealClock{}, b.expected())
	defer b.time.Close()
	if err := b.run(ctx); err != nil {
		return nil, fmt.Errorf("bring up lab %s: %w", o.Name, errors.Join(err, b.cleanUp(ctx)))
	}
	b.time.Say("lab %s is up: %d control planes, %d workers, %s", o.Name, o.ControlPlanes, o.Workers, o.Version)
	return OpenIn(ctx, o.Name, o.Dir)
}

// existing finds a lab of the same name, which is fine where it has the same shape and in the way where not.
func existing(ctx context.Context, o Options) (*Lab, error) {
	found, err := anything(ctx, o.Name)
	if err != nil || !found {
		return nil, err
	}
	l, err := OpenIn(ctx, o.Name, o.Dir)
	if err != nil || !l.complete() {
		return nil, fmt.Errorf("remains of a lab named %s are in the way; remove them with: lab down --name %s", o.Name, o.Name)
	}
	planes := len(l.ControlPlanes())
	if planes == o.ControlPlanes && len(l.hosts)-planes == o.Workers && l.Version == o.Version {
		fmt.Fprintf(o.Log, "lab %s is there already\n", o.Name)
		return l, nil
	}
	return nil, fmt.Errorf("a lab named %s is there already, with %d control planes, %d workers and %s; remove it (lab down --name %s) "+
		"or choose another --name", o.Name, planes, len(l.hosts)-planes, l.Version, o.Name)
}

// bringUp is one run of Up.
type bringUp struct {
	Options
	rights  engine.Rights
	store   *parts.Store
	release parts.Release
	time    *timeline.Timeline
	plan    address.Plan
	cluster kubeadm.Cluster
	image   string
	lab     *Lab
}

func newBringUp(o Options, rights engine.Rights) (*bringUp, error) {
	store, err := parts.OpenStore()
	if err != nil {
		return nil, err
	}
	release, err := parts.ReleaseOf(o.Version)
	if err != nil {
		return nil, err
	}
	l := &Lab{Name: o.Name, Version: o.Version, dir: folder(o.Dir, o.Name), ports: map[int]int{}}
	return &bringUp{Options: o, rights: rights, store: store, release: release, lab: l}, nil
}

func (b *bringUp) expected() time.Duration {
	return costImport + costPush + costPull + costInit + time.Duration(b.ControlPlanes-1)*costJoin + costReady
}

// run does it all. The registry's images travel while the hosts boot; every control plane pulls before it is its turn.
func (b *bringUp) run(ctx context.Context) error {
	err := b.time.Do("importing the hosts' image", costImport, func() (err error) {
		b.image, err = b.system().EnsureImage(ctx, b.store)
		return err
	})
	if err != nil {
		return err
	}
	if err := b.makeNetwork(ctx); err != nil {
		return err
	}
	if err := b.describe(); err != nil {
		return err
	}
	published := make(chan struct{})
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { return b.publish(groupCtx, published) })
	group.Go(func() error { return b.startLoadBalancer(groupCtx) })
	group.Go(func() error { return b.makeCluster(groupCtx, published) })
	return group.Wait()
}

// cleanUp removes what a failed run left, also where the run was called off.
func (b *bringUp) cleanUp(ctx context.Context) error {
	if b.Keep {
		b.time.Say("left as it is; remove it with: lab down --name %s", b.Name)
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupDeadline)
	defer cancel()
	b.time.Say("cleaning up")
	return b.lab.Down(ctx)
}
