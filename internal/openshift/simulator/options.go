package simulator

import (
	"errors"
	"fmt"
	"slices"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilversion "k8s.io/apimachinery/pkg/util/version"
)

const (
	// ClusterVersionName is the only ClusterVersion's name.
	ClusterVersionName = "version"
	// MachineConfig is the cluster operator that comes last, and whose new version renders the pools' new configurations.
	MachineConfig = "machine-config"
	// MasterPool is the pool that the cluster-version operator waits for, if there is one.
	MasterPool = "master"
)

// The defaults of Options.
const (
	DefaultOperatorTime = 10 * time.Second
	DefaultMachineTime  = 20 * time.Second
	DefaultTick         = 500 * time.Millisecond
	DefaultChannel      = "stable-4.16"
)

// DefaultOperators are the cluster operators of Options that name none, in the order in which they take a new version.
func DefaultOperators() []string {
	return []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "authentication", "console", "dns", "image-registry",
		"ingress", "monitoring", "network", "storage", MachineConfig}
}

// Options say what the cluster is like before anything happens, and how fast things happen.
type Options struct {
	// Version that the cluster is at: semantic, without a v. Required.
	Version string
	// History is what the cluster was at before, newest first. Version's own entry is added, if it is not the first. An entry without a
	// State is Completed, one without times has times a week apart, one without an Image has that of Image.
	History []configv1.UpdateHistory
	// Channel of the ClusterVersion. Default DefaultChannel.
	Channel string
	// AvailableUpdates are the releases that the update service offers. Those not above the cluster's version, and those whose
	// Channels do not hold the cluster's, are not shown. One without Channels is in every channel, one without an Image has
	// that of Image.
	AvailableUpdates []configv1.Release
	// Operators are the names of the cluster operators in the order in which they take a new version; machine-config is always
	// there and always last. Default DefaultOperators.
	Operators []string
	// Pools of machines. Default: none.
	Pools []Pool
	// OperatorTime is how long an operator takes to a new version. Default DefaultOperatorTime.
	OperatorTime time.Duration
	// MachineTime is how long a machine takes to a new configuration. Default DefaultMachineTime.
	MachineTime time.Duration
	// FailingAfter is how long an operator may be Degraded before the ClusterVersion is Failing. Default three times
	// OperatorTime.
	FailingAfter time.Duration
	// Tick is how often Run takes a step. Default DefaultTick.
	Tick time.Duration
	// Report is given a line for each change that matters, such as "ClusterVersion: 4.16.3 is completed". It is called from within
	// Step, so that it must not call the simulator. Default: nobody is told.
	Report func(line string)
}

// Pool is a MachineConfigPool and how many machines it has. There are no Node objects.
type Pool struct {
	Name string
	// Labels are added to those that such a pool has by itself.
	Labels map[string]string
	// Machines are numbered from 0; their names are the pool's, a dash and the number.
	Machines int
	// MaxUnavailable is how many machines may be out of service at once, as a number or as a percentage. Default: the field is
	// left out, which means 1.
	MaxUnavailable *intstr.IntOrString
}

func (o Options) withDefaults() (Options, error) {
	if _, err := utilversion.ParseSemantic(o.Version); err != nil {
		return o, fmt.Errorf("the cluster's version: %w", err)
	}
	if o.Channel == "" {
		o.Channel = DefaultChannel
	}
	if len(o.Operators) == 0 {
		o.Operators = DefaultOperators()
	}
	o.Operators = slices.DeleteFunc(slices.Clone(o.Operators), func(name string) bool { return name == MachineConfig })
	o.Operators = append(o.Operators, MachineConfig)
	o.AvailableUpdates = slices.Clone(o.AvailableUpdates)
	for i := range o.AvailableUpdates {
		if err := fill(&o.AvailableUpdates[i]); err != nil {
			return o, err
		}
	}
	for _, p := range o.Pools {
		if p.Name == "" || p.Machines < 0 {
			return o, errors.New("a pool needs a name and a count of machines that is not below 0")
		}
	}
	def(&o.OperatorTime, DefaultOperatorTime)
	def(&o.MachineTime, DefaultMachineTime)
	def(&o.FailingAfter, 3*o.OperatorTime)
	def(&o.Tick, DefaultTick)
	if o.Report == nil {
		o.Report = func(string) {}
	}
	return o, nil
}

func def(d *time.Duration, value time.Duration) {
	if *d <= 0 {
		*d = value
	}
}
