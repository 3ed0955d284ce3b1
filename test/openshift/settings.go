package main

import (
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	configv1 "github.com/openshift/api/config/v1"

	"refit.dev/refit/internal/openshift/simulator"
)

const usage = `Plays OpenShift's cluster-version operator and machine-config operator on a real kube-apiserver of its own, with OpenShift's
kinds and Refit's. Update it with kubectl; disturb it with the commands of its terminal (type help). It ends at quit, at the end of
its input or at Ctrl-C, and leaves nothing behind.

Examples:
  go run ./openshift
  go run ./openshift --version 4.16.2 --updates 4.16.3,4.17.1 --pools master=3,worker=20,x-app-night=4
  go run ./openshift --operator-time 1s --machine-time 2s --kubeconfig /tmp/openshift.kubeconfig

Flags:
`

// settings are what the flags say.
type settings struct {
	kubeconfig string
	options    simulator.Options
}

// parseSettings reads the flags; help and what is wrong go to w.
func parseSettings(args []string, w io.Writer) (settings, error) {
	var s settings
	f := flag.NewFlagSet("openshift", flag.ContinueOnError)
	f.SetOutput(w)
	f.Usage = func() {
		fmt.Fprint(w, usage)
		f.PrintDefaults()
	}
	f.StringVar(&s.kubeconfig, "kubeconfig", "./openshift.kubeconfig", "the `file` to write the administrator's kubeconfig to; it is removed at the end")
	f.StringVar(&s.options.Version, "version", "4.16.2", "the `version` that the cluster is at")
	f.StringVar(&s.options.Channel, "channel", simulator.DefaultChannel, "the `channel` of the ClusterVersion")
	updates := f.String("updates", "4.16.3,4.16.4,4.17.1", "the `versions` that are available, separated by commas")
	pools := f.String("pools", "master=3,worker=3,infra=2", "the machine config pools and their counts of machines, `name=count,...`")
	f.DurationVar(&s.options.OperatorTime, "operator-time", 5*time.Second, "how long a cluster operator takes to a new version")
	f.DurationVar(&s.options.MachineTime, "machine-time", simulator.DefaultOperatorTime, "how long a machine takes to a new configuration")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	if f.NArg() > 0 {
		return s, fmt.Errorf("%q is no flag: this program takes no arguments", f.Arg(0))
	}
	for _, version := range split(*updates) {
		s.options.AvailableUpdates = append(s.options.AvailableUpdates, configv1.Release{Version: version})
	}
	var err error
	s.options.Pools, err = parsePools(*pools)
	return s, err
}

// parsePools reads pools written as name=count.
func parsePools(text string) ([]simulator.Pool, error) {
	var out []simulator.Pool
	for _, one := range split(text) {
		name, count, _ := strings.Cut(one, "=")
		n, err := strconv.Atoi(count)
		if name == "" || err != nil || n < 0 {
			return nil, fmt.Errorf("pool %q: write it as name=count, such as worker=3", one)
		}
		out = append(out, simulator.Pool{Name: name, Machines: n})
	}
	return out, nil
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}
