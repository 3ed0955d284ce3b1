package controlplane

import (
	"context"
	"fmt"
	"net"
	"time"

	"refit.dev/refit/internal/node/cri"
	"refit.dev/refit/internal/node/kubeapi"
	"refit.dev/refit/internal/node/staticpod"
	"refit.dev/refit/internal/node/task"
)

const (
	// defaultGrace is how long the kubelet lets a pod end that does not say otherwise.
	defaultGrace = 30 * time.Second
	// lookEvery is how often it is seen whether the API server still listens.
	lookEvery = 100 * time.Millisecond
)

// StopAPIServer ends the API server's container gracefully and returns when it is gone. keepAway is called just before, and keeps
// the kubelet from starting it again.
//
// An API server that is told to end fails its readiness, after its shutdown-delay-duration stops listening, answers what it
// has begun, and then waits for its watches, which by themselves never end: the kubelet kills it after the grace period. Here it is
// killed earlier, once it does not listen any more and its last requests have had twice the time that the slowest of late
// took. Where that is not known, they have the same grace period.
func StopAPIServer(ctx context.Context, t *task.Task, keepAway func() error) (string, error) {
	message := "the API server was not running"
	err := t.WithCRI(func(c *cri.Client) error {
		container, err := c.Running(ctx, staticpod.PodName(t, staticpod.APIServer), staticpod.APIServer)
		if err != nil {
			return err
		}
		if container == nil {
			return keepAway()
		}
		s, err := newStop(ctx, t, c, container.ID)
		if err != nil {
			return err
		}
		message, err = s.run(ctx, keepAway)
		return err
	})
	return message, err
}

type stop struct {
	*task.Task
	runtime  *cri.Client
	id       string
	endpoint string
	// grace is what the pod is given in all; tail is what its last requests are given.
	grace, tail time.Duration
	why         string
}

func newStop(ctx context.Context, t *task.Task, c *cri.Client, id string) (*stop, error) {
	folder, err := staticpod.Folder(t)
	if err != nil {
		return nil, err
	}
	s := &stop{Task: t, runtime: c, id: id, grace: defaultGrace}
	if s.endpoint, err = staticpod.Endpoint(t, folder, oldFolder(t)); err != nil {
		return nil, err
	}
	for _, from := range []string{folder, oldFolder(t)} {
		m, content, err := staticpod.Read(t, from, staticpod.APIServer)
		if err != nil {
			return nil, err
		}
		if content != nil && m.Spec.GracePeriod != nil {
			s.grace = time.Duration(*m.Spec.GracePeriod) * time.Second
		}
		if content != nil {
			break
		}
	}
	api, err := localAPI(t, s.endpoint)
	if err != nil {
		return nil, err
	}
	if why := ready(ctx, t, s.endpoint); why != "" {
		// No load balancer sends requests to it.
		s.tail, s.why = min(shortestTail, s.grace), "it is not ready: "+why
		return s, nil
	}
	s.tail, s.why = tail(ctx, t, api, s.grace)
	return s, nil
}

func (s *stop) run(ctx context.Context, keepAway func() error) (string, error) {
	if err := keepAway(); err != nil {
		return "", err
	}
	began := s.Clock.Now()
	s.Log.Say("ending the API server: %s for its last requests, as %s", s.tail, s.why)
	ended := make(chan error, 1)
	go func() { ended <- s.runtime.Stop(ctx, s.id, s.grace) }()

	ticker := s.Clock.NewTicker(lookEvery)
	defer ticker.Stop()
	var deafSince time.Time
	for killed := false; ; {
		select {
		case err := <-ended:
			return fmt.Sprintf("the API server ended after %s", s.Clock.Since(began).Round(lookEvery)), err
		case <-ctx.Done():
			return "", fmt.Errorf("end the API server: %w", context.Cause(ctx))
		case <-ticker.C():
		}
		switch {
		case killed:
		case deafSince.IsZero():
			if !listens(ctx, s.endpoint) {
				deafSince = s.Clock.Now()
				s.Log.Say("the API server takes no new connections since %s after it was told to end", deafSince.Sub(began).Round(lookEvery))
			}
		case s.Clock.Since(deafSince) >= s.tail:
			s.Log.Say("only watches are left: ending the API server now")
			killed = true
			if err := s.runtime.Stop(ctx, s.id, 0); err != nil {
				s.Log.Say("%v; it ends by itself within %s", err, s.grace)
			}
		}
	}
}

// listens says whether something takes connections at an address.
func listens(ctx context.Context, address string) bool {
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	// Only whether it opens matters.
	_ = conn.Close()
	return true
}

// localAPI asks the API server of this control plane, not the one behind the load balancer.
func localAPI(t *task.Task, endpoint string) (*kubeapi.Client, error) {
	api, err := t.API()
	if err != nil {
		return nil, err
	}
	return api.At("https://" + endpoint), nil
}
