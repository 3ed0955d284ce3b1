package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/client-go/rest"

	"refit.dev/refit/internal/openshift/simulator"
)

// console does what a person types.
type console struct {
	sim    *simulator.Simulator
	config *rest.Config
	lines  *lines
}

// serve reads commands until the context or the input ends, or until it is told to quit. A command that fails says so.
func (c *console) serve(ctx context.Context, in io.Reader) error {
	typed, failed := make(chan string), make(chan error, 1)
	go func() {
		scanner := bufio.NewScanner(in)
		for scanner.Scan() {
			select {
			case typed <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
		failed <- scanner.Err()
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			if err != nil {
				return fmt.Errorf("read commands: %w", err)
			}
			return nil
		case line := <-typed:
			cmd, err := parse(line)
			if err == nil && cmd.verb == quit {
				return nil
			}
			if err == nil {
				err = c.do(ctx, cmd)
			}
			if err != nil && !errors.Is(err, errEmpty) {
				c.lines.say("%s", err)
			}
		}
	}
}

func (c *console) do(ctx context.Context, cmd command) error {
	switch cmd.verb {
	case help:
		c.lines.say("%s", helpText)
	case status:
		return c.status(ctx)
	case degrade:
		if cmd.machine >= 0 {
			return c.done(cmd, c.sim.DegradePool(cmd.name, cmd.machine))
		}
		return c.done(cmd, c.sim.Degrade(cmd.name, "Somebody typed degrade "+cmd.name))
	case unavailable:
		return c.done(cmd, c.sim.MakeUnavailable(cmd.name, "Somebody typed unavailable "+cmd.name))
	case heal:
		return c.done(cmd, c.sim.Heal(cmd.name))
	case interrupt:
		c.sim.Interrupt(cmd.duration)
		return c.done(cmd, nil)
	case slow:
		return c.done(cmd, c.sim.Slow(cmd.factor))
	case withdraw:
		return c.done(cmd, c.sim.Withdraw(cmd.name))
	case publish:
		return c.done(cmd, c.sim.Publish(configv1.Release{Version: cmd.name}))
	}
	return nil
}

// done acknowledges a disturbance.
func (c *console) done(cmd command, err error) error {
	if err != nil {
		return err
	}
	c.lines.change("you: " + cmd.String())
	return nil
}
