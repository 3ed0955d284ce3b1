package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// verb is the first word of a command.
type verb string

const (
	help        verb = "help"
	degrade     verb = "degrade"
	unavailable verb = "unavailable"
	heal        verb = "heal"
	interrupt   verb = "interrupt"
	slow        verb = "slow"
	withdraw    verb = "withdraw"
	publish     verb = "publish"
	status      verb = "status"
	quit        verb = "quit"
)

const helpText = `  status                 how the cluster is
  degrade OPERATOR       a cluster operator becomes Degraded; an update stops at it
  degrade POOL MACHINE   a machine of a pool, counted from 0, fails to take its next configuration
  unavailable OPERATOR   a cluster operator becomes Available=False
  heal NAME              ends what is wrong with a cluster operator or a pool
  interrupt DURATION     both operators do nothing for a while, such as 30s; 0s ends that
  slow FACTOR            everything takes so many times longer, such as 3; 1 is as usual
  withdraw VERSION       an update is available no more
  publish VERSION        an update is available
  quit                   stops everything`

// command is what a person wants; only the fields of its verb are set.
type command struct {
	verb verb
	// name of an operator or a pool, or a version.
	name string
	// machine of a pool; -1 for none.
	machine  int
	duration time.Duration
	factor   float64
}

// errEmpty says that a line holds no command.
var errEmpty = errors.New("no command")

// parse reads a line. It fails with errEmpty when there is nothing on it, and with what is wrong when it makes no sense.
func parse(line string) (command, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return command{}, errEmpty
	}
	c, args := command{verb: verb(strings.ToLower(words[0])), machine: -1}, words[1:]
	least, most, known := arguments(c.verb)
	switch {
	case !known:
		return c, fmt.Errorf("%q is no command: type help", words[0])
	case len(args) < least || len(args) > most:
		return c, fmt.Errorf("%s takes %s: type help", c.verb, counted(least, most))
	case most == 0:
		return c, nil
	}
	var err error
	switch c.verb {
	case interrupt:
		if c.duration, err = time.ParseDuration(args[0]); err != nil || c.duration < 0 {
			return c, fmt.Errorf("%q is no duration: write it as 30s or 2m", args[0])
		}
	case slow:
		if c.factor, err = strconv.ParseFloat(args[0], 64); err != nil || !(c.factor > 0) {
			return c, fmt.Errorf("%q is no factor: write a number above 0, such as 3", args[0])
		}
	default:
		c.name = args[0]
	}
	if len(args) == 2 {
		if c.machine, err = strconv.Atoi(args[1]); err != nil || c.machine < 0 {
			return c, fmt.Errorf("%q is no machine: machines are counted from 0", args[1])
		}
	}
	return c, nil
}

// arguments is how many a verb takes.
func arguments(v verb) (least, most int, known bool) {
	switch v {
	case help, status, quit:
		return 0, 0, true
	case degrade:
		return 1, 2, true
	case unavailable, heal, interrupt, slow, withdraw, publish:
		return 1, 1, true
	}
	return 0, 0, false
}

func counted(least, most int) string {
	switch {
	case most == 0:
		return "no argument"
	case least != most:
		return fmt.Sprintf("%d or %d arguments", least, most)
	}
	return "one argument"
}

// String is the command as it could have been typed.
func (c command) String() string {
	switch {
	case c.verb == interrupt:
		return string(c.verb) + " " + c.duration.String()
	case c.verb == slow:
		return string(c.verb) + " " + strconv.FormatFloat(c.factor, 'g', -1, 64)
	case c.machine >= 0:
		return string(c.verb) + " " + c.name + " " + strconv.Itoa(c.machine)
	}
	return strings.TrimSpace(string(c.verb) + " " + c.name)
}
