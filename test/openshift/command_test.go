package main

import (
	"io"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"refit.dev/refit/internal/openshift/simulator"
)

func TestCommandsAreRead(t *testing.T) {
	for line, want := range map[string]command{
		"help":               {verb: help, machine: -1},
		"  status ":          {verb: status, machine: -1},
		"QUIT":               {verb: quit, machine: -1},
		"degrade etcd":       {verb: degrade, name: "etcd", machine: -1},
		"degrade worker 2":   {verb: degrade, name: "worker", machine: 2},
		"unavailable dns":    {verb: unavailable, name: "dns", machine: -1},
		"heal\tetcd":         {verb: heal, name: "etcd", machine: -1},
		"interrupt 30s":      {verb: interrupt, duration: 30 * time.Second, machine: -1},
		"interrupt 0s":       {verb: interrupt, machine: -1},
		"slow 3":             {verb: slow, factor: 3, machine: -1},
		"slow 0.5":           {verb: slow, factor: 0.5, machine: -1},
		"withdraw 4.16.3":    {verb: withdraw, name: "4.16.3", machine: -1},
		"publish 4.18.0-rc1": {verb: publish, name: "4.18.0-rc1", machine: -1},
	} {
		t.Run(line, func(t *testing.T) {
			g := NewWithT(t)
			got, err := parse(line)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(want))
		})
	}
}

func TestACommandThatMakesNoSenseSaysWhy(t *testing.T) {
	for line, why := range map[string]string{
		"":                 "no command",
		"   ":              "no command",
		"explode":          `"explode" is no command`,
		"quit now":         "quit takes no argument",
		"degrade":          "degrade takes 1 or 2 arguments",
		"degrade a 1 2":    "degrade takes 1 or 2 arguments",
		"degrade worker x": `"x" is no machine`,
		"degrade w -1":     `"-1" is no machine`,
		"heal":             "heal takes one argument",
		"heal etcd 2":      "heal takes one argument",
		"interrupt 30":     `"30" is no duration`,
		"interrupt -30s":   `"-30s" is no duration`,
		"slow down":        `"down" is no factor`,
		"slow 0":           `"0" is no factor`,
		"slow NaN":         `"NaN" is no factor`,
	} {
		t.Run(line, func(t *testing.T) {
			_, err := parse(line)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(why)))
		})
	}
}

func TestFlagsSayWhatTheClusterIsLike(t *testing.T) {
	g := NewWithT(t)
	s, err := parseSettings([]string{"--pools", "master=1, night=20", "--updates=4.16.9", "--machine-time", "2s"}, io.Discard)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.kubeconfig).To(Equal("./openshift.kubeconfig"))
	g.Expect(s.options.Pools).To(Equal([]simulator.Pool{{Name: "master", Machines: 1}, {Name: "night", Machines: 20}}))
	g.Expect(s.options.AvailableUpdates).To(HaveLen(1))
	g.Expect(s.options.MachineTime).To(Equal(2 * time.Second))
	for _, args := range [][]string{{"--pools", "master"}, {"--pools", "=3"}, {"--pools", "a=-1"}, {"now"}, {"--nodes=3"}} {
		_, err := parseSettings(args, io.Discard)
		g.Expect(err).To(HaveOccurred(), "%v", args)
	}
}
