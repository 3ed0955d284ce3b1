package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

const usage = `Upgrades a cluster of simulated nodes with the real manager, on a real kube-apiserver and etcd of its own. Nodes and their Pods are
played by kwok. It ends by itself, or at Ctrl-C, and leaves nothing behind.

Examples:
  go run ./sim --nodes 1000 --fail 0.5
  go run ./sim --bench --nodes 100,1000,5000

Flags:
`

// shortest is what the steps of a node take at least.
const shortest = 5 * time.Second

// settings are what the flags say.
type settings struct {
	// sizes are the numbers of nodes, one after another.
	sizes []int
	bench bool
	// fail is the percentage of nodes that fail once: half of them go on by themselves, the others need a person.
	fail float64
	// nodeTime is what the steps of one worker take, 0 for what the rate leaves; stageTime what it takes to fetch.
	nodeTime, stageTime time.Duration
	// rate is how many workers may end in a second: kwok, the API server and etcd share the processors with the manager, and are to
	// be the bottleneck nowhere.
	rate float64
	// spread is how much longer or shorter a step may take on one node than on another, in percent.
	spread float64
	// percent of the workers may be out of service at once, but no more than most.
	percent, most int
	controlPlanes int
	// kill has the leader killed mid-way at this size, 0 at none.
	kill int
	// manager, kwok and json are files; keep is a folder for the logs of the programs.
	manager, kwok, json, plot, keep string
	// profile serves pprof of the managers.
	profile bool
}

func parseSettings(args []string, w io.Writer) (settings, error) {
	var s settings
	f := flag.NewFlagSet("sim", flag.ContinueOnError)
	f.SetOutput(w)
	f.Usage = func() {
		fmt.Fprint(w, usage)
		f.PrintDefaults()
	}
	sizes := f.String("nodes", "1000", "how many workers; with --bench several, separated by commas")
	f.BoolVar(&s.bench, "bench", false, "measure, and print a table")
	f.Float64Var(&s.fail, "fail", 0, "the percentage of nodes that fail once")
	f.DurationVar(&s.nodeTime, "node-time", 0, "what the steps of one node take; 0 for what --rate leaves, and 5s at least")
	f.Float64Var(&s.rate, "rate", 2.5, "how many nodes may end in a second, which --node-time follows from")
	f.Float64Var(&s.spread, "spread", 50, "by how many percent a step may take longer or shorter, at random; 0 has nodes that begin together end together")
	f.DurationVar(&s.stageTime, "stage-time", time.Second, "what fetching takes on one node")
	f.IntVar(&s.percent, "max-unavailable", 5, "the percentage of workers that may be out of service at once")
	f.IntVar(&s.most, "at-most", 250, "how many workers may be out of service at once, whatever the percentage")
	f.IntVar(&s.controlPlanes, "control-planes", 3, "how many control planes")
	f.IntVar(&s.kill, "kill-at", 1000, "with --bench: the size at which the leader is killed mid-way; 0 at none")
	f.StringVar(&s.manager, "manager", "", "the manager's `program`; default ../bin/refit-manager")
	f.StringVar(&s.kwok, "kwok", "", "kwok's `program`; by default it is built into the cache folder")
	f.StringVar(&s.json, "json", "", "the `file` to write the figures to")
	f.StringVar(&s.plot, "plot", "", "the `file` to write the plot to, an SVG")
	f.StringVar(&s.keep, "logs", "", "the `folder` to leave the programs' logs in")
	f.BoolVar(&s.profile, "profile", false, "serve pprof of the managers, and take a profile at the middle of the rollout")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	for _, text := range strings.FieldsFunc(*sizes, func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return s, fmt.Errorf("%q is no number of nodes", text)
		}
		s.sizes = append(s.sizes, n)
	}
	switch {
	case f.NArg() > 0:
		return s, fmt.Errorf("%q is no flag: this program takes no arguments", f.Arg(0))
	case len(s.sizes) == 0 || !s.bench && len(s.sizes) > 1:
		return s, errors.New("--nodes takes one number; several only with --bench")
	case s.fail < 0 || s.fail > 100 || s.percent < 1 || s.percent > 100 || s.most < 1 || s.controlPlanes < 1 || s.rate <= 0 || s.spread < 0 || s.spread > 100 || s.nodeTime < 0:
		return s, errors.New("percentages are between 0 and 100, counts at least 1, a rate more than 0, and a time not less than 0")
	}
	return s, nil
}

// limit is how many of that many workers may be out of service at once.
func (s settings) limit(workers int) int { return max(1, min(workers*s.percent/100, s.most)) }

// at are the settings for that many workers, with the time of a node.
func (s settings) at(workers int) settings {
	if s.nodeTime == 0 {
		s.nodeTime = max(shortest, time.Duration(float64(s.limit(workers))/s.rate*float64(time.Second)))
	}
	return s
}
