package host

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	sd "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"
)

// UnitState is what systemd says of a unit.
type UnitState struct {
	// Active is systemd's ActiveState: active, activating, inactive, failed, …
	Active string
	// Result is how the service last ended: success, exit-code, timeout, …
	Result string
	// MainPID is 0 where no process runs.
	MainPID int
	// Restarts counts the times that systemd has restarted the service by itself.
	Restarts uint32
	// Description is the unit's.
	Description string
	// Loaded says whether systemd knows the unit.
	Loaded bool
}

// Running says whether the unit runs or is on its way there.
func (s UnitState) Running() bool {
	return s.Active == "active" || s.Active == "activating" || s.Active == "reloading" || s.Active == "deactivating"
}

// Systemd is the host's service manager.
type Systemd interface {
	// State tells how a unit is.
	State(ctx context.Context, unit string) (UnitState, error)
	// Program is the program that a service's unit starts, empty where the unit names none.
	Program(ctx context.Context, unit string) (string, error)
	// KillMode says which processes of a service end with it: control-group, mixed, process or none.
	KillMode(ctx context.Context, unit string) (string, error)
	// Start, Stop and Restart wait until systemd has finished the job.
	Start(ctx context.Context, unit string) error
	Stop(ctx context.Context, unit string) error
	Restart(ctx context.Context, unit string) error
	// StartTransient makes a unit that runs a command, at most for the time given, and starts it.
	StartTransient(ctx context.Context, unit string, t Transient) error
	Close()
}

// Transient is a unit that lives until its command ends.
type Transient struct {
	Description string
	Command     []string
	Environment []string
	// Limit ends the command (RuntimeMaxSec).
	Limit time.Duration
	// Final are the exit codes of a command that has ended by itself. After any other it is started again, a few times.
	Final []int32
}

// exitStatuses is how systemd takes a set of exit codes and signals.
type exitStatuses struct {
	Codes   []int32
	Signals []int32
}

const (
	// restartPause and maxStarts bound how a killed step is begun again.
	restartPause = 2 * time.Second
	maxStarts    = 3
)

type systemd struct{ conn *sd.Conn }

// DialSystemd connects to the service manager of the host whose root folder is given, over its private socket: no message bus is
// needed, and none may run. It asks as root.
func DialSystemd(ctx context.Context, root string) (Systemd, error) {
	socket := filepath.Join(root, "/run/systemd/private")
	conn, err := sd.NewConnection(func() (*dbus.Conn, error) {
		c, err := dbus.Dial("unix:path="+socket, dbus.WithContext(ctx))
		if err != nil {
			return nil, err
		}
		if err := c.Auth([]dbus.Auth{dbus.AuthExternal("0")}); err != nil {
			return nil, errors.Join(err, c.Close())
		}
		return c, nil
	})
	if err != nil {
		return nil, fmt.Errorf("connect to the host's systemd at %s (does the host run systemd, and is the Pod privileged with hostPID?): %w",
			socket, err)
	}
	return &systemd{conn: conn}, nil
}

func (s *systemd) Close() { s.conn.Close() }

func (s *systemd) State(ctx context.Context, unit string) (UnitState, error) {
	props, err := s.conn.GetAllPropertiesContext(ctx, unit)
	if err != nil {
		return UnitState{}, fmt.Errorf("ask systemd about %s: %w", unit, err)
	}
	text := func(name string) string { v, _ := props[name].(string); return v }
	number := func(name string) uint32 { v, _ := props[name].(uint32); return v }
	return UnitState{Active: text("ActiveState"), Result: text("Result"), MainPID: int(number("MainPID")),
		Restarts: number("NRestarts"), Description: text("Description"), Loaded: text("LoadState") == "loaded"}, nil
}

func (s *systemd) Program(ctx context.Context, unit string) (string, error) {
	prop, err := s.conn.GetServicePropertyContext(ctx, unit, "ExecStart")
	if err != nil {
		return "", fmt.Errorf("ask systemd what %s starts: %w", unit, err)
	}
	// ExecStart is a list of (path, arguments, …).
	commands, ok := prop.Value.Value().([][]any)
	if !ok || len(commands) == 0 || len(commands[0]) == 0 {
		return "", nil
	}
	path, _ := commands[0][0].(string)
	return path, nil
}

func (s *systemd) KillMode(ctx context.Context, unit string) (string, error) {
	prop, err := s.conn.GetServicePropertyContext(ctx, unit, "KillMode")
	if err != nil {
		return "", fmt.Errorf("ask systemd for the KillMode of %s: %w", unit, err)
	}
	mode, _ := prop.Value.Value().(string)
	return mode, nil
}

type job func(ctx context.Context, name, mode string, done chan<- string) (int, error)

func (s *systemd) Start(ctx context.Context, unit string) error {
	return wait(ctx, "start", unit, s.conn.StartUnitContext)
}

func (s *systemd) Stop(ctx context.Context, unit string) error {
	return wait(ctx, "stop", unit, s.conn.StopUnitContext)
}

func (s *systemd) Restart(ctx context.Context, unit string) error {
	return wait(ctx, "restart", unit, s.conn.RestartUnitContext)
}

func wait(ctx context.Context, verb, unit string, start job) error {
	done := make(chan string, 1)
	if _, err := start(ctx, unit, "replace", done); err != nil {
		return fmt.Errorf("%s %s: %w", verb, unit, err)
	}
	select {
	case result := <-done:
		if result != "done" {
			return fmt.Errorf("%s %s: systemd says %q; see `journalctl -u %s`", verb, unit, result, unit)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s %s: systemd has not finished: %w", verb, unit, context.Cause(ctx))
	}
}

func (s *systemd) StartTransient(ctx context.Context, unit string, t Transient) error {
	property := func(name string, value any) sd.Property {
		return sd.Property{Name: name, Value: dbus.MakeVariant(value)}
	}
	props := []sd.Property{
		sd.PropDescription(t.Description),
		sd.PropExecStart(t.Command, false),
		sd.PropType("exec"),
		property("Environment", t.Environment),
		property("RuntimeMaxUSec", uint64(t.Limit.Microseconds())),
		property("TimeoutStopUSec", uint64((30 * time.Second).Microseconds())),
		property("CollectMode", "inactive-or-failed"),
		// A step that is killed, as for lack of memory, is begun again at once: it knows how to go on, and the Pod that
		// started it may not be able to run before it is done.
		property("Restart", "on-failure"),
		property("RestartPreventExitStatus", exitStatuses{Codes: t.Final}),
		property("RestartUSec", uint64(restartPause.Microseconds())),
		property("StartLimitIntervalUSec", uint64(t.Limit.Microseconds())),
		property("StartLimitBurst", uint32(maxStarts)),
	}
	return wait(ctx, "start", unit, func(ctx context.Context, name, mode string, done chan<- string) (int, error) {
		return s.conn.StartTransientUnitContext(ctx, name, mode, props, done)
	})
}

// ProcessProgram is the file that a process runs, as the kernel knows it, with " (deleted)" where it was replaced since.
func ProcessProgram(root string, pid int) (string, error) {
	return readLink(filepath.Join(root, "proc", strconv.Itoa(pid), "exe"))
}
