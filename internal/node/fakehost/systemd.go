package fakehost

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/replace"
)

// unit is a service.
type unit struct {
	program string
	pid     int
	// sum is the program's checksum when it was started.
	sum      string
	restarts uint32
}

// Systemd is a service manager of the kubelet and containerd.
type Systemd struct {
	mu    sync.Mutex
	host  *Host
	units map[string]*unit
	next  int
	// KillModes are the units' KillMode; default process.
	KillModes map[string]string
	// Crashes are checksums of programs that end as soon as they are started.
	Crashes map[string]bool
	// Transients are the units that were started with StartTransient, by name.
	Transients map[string]host.Transient
	// States are what State answers of other units.
	States map[string]host.UnitState
}

var _ host.Systemd = (*Systemd)(nil)

// State tells how a unit is.
func (s *Systemd) State(_ context.Context, name string) (host.UnitState, error) {
	if s.host.Power.Off() {
		return host.UnitState{}, ErrPower
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.units[name]
	if u == nil {
		return s.States[name], nil
	}
	if u.pid == 0 {
		return host.UnitState{Active: "inactive", Result: "success", Loaded: true}, nil
	}
	if s.Crashes[u.sum] {
		u.restarts++
		return host.UnitState{Active: "activating", Result: "exit-code", Restarts: u.restarts, Loaded: true}, nil
	}
	return host.UnitState{Active: "active", Result: "success", MainPID: u.pid, Restarts: u.restarts, Loaded: true}, s.link(u)
}

// SetState changes what State answers of a unit.
func (s *Systemd) SetState(name string, state host.UnitState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.States[name] = state
}

// link makes /proc/PID/exe of the host tell what runs, as the kernel does.
func (s *Systemd) link(u *unit) error {
	sum, err := replace.Sum(s.host.Path(u.program))
	if err != nil {
		return err
	}
	target := u.program
	if sum != u.sum {
		target += " (deleted)"
	}
	exe := s.host.Path(filepath.Join("/proc", strconv.Itoa(u.pid), "exe"))
	if err := os.MkdirAll(filepath.Dir(exe), 0o755); err != nil {
		return err
	}
	if err := os.Remove(exe); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Symlink(target, exe)
}

// Program is what a unit starts.
func (s *Systemd) Program(_ context.Context, name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u := s.units[name]; u != nil {
		return u.program, nil
	}
	return "", nil
}

// KillMode is a unit's.
func (s *Systemd) KillMode(_ context.Context, name string) (string, error) {
	if mode := s.KillModes[name]; mode != "" {
		return mode, nil
	}
	return "process", nil
}

// Start starts a unit that does not run.
func (s *Systemd) Start(_ context.Context, name string) error {
	if !s.host.Power.spend() {
		return ErrPower
	}
	s.mu.Lock()
	u := s.units[name]
	running := u.pid != 0
	s.mu.Unlock()
	if running {
		return nil
	}
	return s.boot(name)
}

// boot starts a unit, whatever the power says.
func (s *Systemd) boot(name string) error {
	s.mu.Lock()
	u := s.units[name]
	sum, err := replace.Sum(s.host.Path(u.program))
	if err != nil {
		s.mu.Unlock()
		return err
	}
	s.next++
	u.pid, u.sum, u.restarts = 1000+s.next, sum, 0
	crashes := s.Crashes[sum]
	s.mu.Unlock()
	if name == host.KubeletUnit && !crashes {
		s.host.kubeletStarts()
	}
	return nil
}

// Stop stops a unit.
func (s *Systemd) Stop(_ context.Context, name string) error {
	if !s.host.Power.spend() {
		return ErrPower
	}
	s.halt(name)
	return nil
}

func (s *Systemd) halt(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.units[name].pid = 0
}

// Restart stops and starts a unit.
func (s *Systemd) Restart(ctx context.Context, name string) error {
	if err := s.Stop(ctx, name); err != nil {
		return err
	}
	return s.Start(ctx, name)
}

// StartTransient notes the unit.
func (s *Systemd) StartTransient(_ context.Context, name string, t host.Transient) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Transients[name] = t
	return nil
}

// Close does nothing.
func (s *Systemd) Close() {}

// runs says whether a unit's process runs.
func (s *Systemd) runs(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.units[name]
	return u.pid != 0 && !s.Crashes[u.sum]
}
