package simulator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// stepTimeout bounds a step of Run, by the wall clock.
const stepTimeout = 30 * time.Second

// Simulator plays the operators of one cluster. Its methods may be called from anywhere at any time.
type Simulator struct {
	client  client.Client
	clock   clock.WithTicker
	options Options

	mu          sync.Mutex
	disturbance disturbance

	// stepping is held by a step, and by Seed; what follows belongs to it.
	stepping sync.Mutex
	last     time.Time
	turn     turn
	// rendered is the version whose configurations the pools are to have.
	rendered string
	machines map[string][]machine
	paused   map[string]bool
}

// New makes a simulator with a client that knows the kinds of AddToScheme and reads without a cache. It fails when the options make no
// sense.
func New(c client.Client, clk clock.WithTicker, o Options) (*Simulator, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("the options of the simulator of OpenShift: %w", err)
	}
	return &Simulator{client: c, clock: clk, options: o, disturbance: newDisturbance(o), last: clk.Now(),
		machines: map[string][]machine{}, paused: map[string]bool{}}, nil
}

// NewForConfig makes a simulator with a client of its own.
func NewForConfig(config *rest.Config, clk clock.WithTicker, o Options) (*Simulator, error) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("make OpenShift's kinds known: %w", err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("make a client of the simulator of OpenShift: %w", err)
	}
	return New(c, clk, o)
}

// Run takes a step at each tick until the context ends; that is no error. A step that fails is reported, and the next one looks again.
func (s *Simulator) Run(ctx context.Context) error {
	ticker := s.clock.NewTicker(s.options.Tick)
	defer ticker.Stop()
	told := ""
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
		switch err := s.boundedStep(ctx); {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			told = ""
		case err.Error() != told:
			told = err.Error()
			s.options.Report("a step failed, and is taken again: " + told)
		}
	}
}

func (s *Simulator) boundedStep(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	return s.Step(ctx)
}

// Step does what is due by the clock since the last one, and writes what has changed. Where somebody else wrote first it leaves the rest
// to the next step, without an error.
func (s *Simulator) Step(ctx context.Context) error {
	s.stepping.Lock()
	defer s.stepping.Unlock()
	w, active := s.look()
	if !active {
		return nil
	}
	if err := s.step(ctx, w); err != nil && !errors.Is(err, errStale) {
		return err
	}
	return nil
}

// step is the order of things: what is wanted, the operators, what the ClusterVersion says of them, the pools.
func (s *Simulator) step(ctx context.Context, w *world) error {
	if err := s.read(ctx, w); err != nil {
		return err
	}
	if err := s.changeVersion(ctx, w, w.accept); err != nil {
		return err
	}
	if err := s.stepOperators(ctx, w); err != nil {
		return err
	}
	if err := s.changeVersion(ctx, w, w.sumUp); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(w.pools)) {
		if err := s.stepPool(ctx, w, w.pools[name]); err != nil {
			return err
		}
	}
	return nil
}

// read fills in what the cluster is like.
func (s *Simulator) read(ctx context.Context, w *world) error {
	if err := s.client.Get(ctx, client.ObjectKey{Name: ClusterVersionName}, &w.version); err != nil {
		return fmt.Errorf("read the ClusterVersion: %w", err)
	}
	var operators configv1.ClusterOperatorList
	if err := s.client.List(ctx, &operators); err != nil {
		return fmt.Errorf("list the ClusterOperators: %w", err)
	}
	var pools machinev1.MachineConfigPoolList
	if err := s.client.List(ctx, &pools); err != nil {
		return fmt.Errorf("list the MachineConfigPools: %w", err)
	}
	return w.fill(operators.Items, pools.Items)
}
