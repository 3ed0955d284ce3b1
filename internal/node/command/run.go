package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/controlplane"
	"refit.dev/refit/internal/node/execute"
	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/launch"
	"refit.dev/refit/internal/node/replace"
	"refit.dev/refit/internal/node/report"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/node/task"
)

// hostRoot is the root folder of the host that the units run on.
const hostRoot = "/"

func runCommand(code *int) *cobra.Command {
	var uid string
	cmd := &cobra.Command{
		Use:   "run NAME",
		Short: "Run a step on the host, from a unit that a container has started",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			*code, err = runOnHost(cmd, uid, v1alpha1.StepName(args[0]))
			return err
		},
	}
	cmd.Flags().StringVar(&uid, "upgrade", "", "UID of the NodeUpgrade")
	// It is declared just above.
	_ = cmd.MarkFlagRequired("upgrade")
	return cmd
}

// runOnHost runs a step and keeps its result where the container finds it, however the step ends. Only one that was told to end, as
// at a shutdown, leaves none: it stays in flight, and goes on at the next boot or with the next Pod.
func runOnHost(cmd *cobra.Command, uid string, name v1alpha1.StepName) (int, error) {
	message, err := stepOnHost(cmd, uid, name)
	if err != nil {
		if cmd.Context().Err() != nil {
			return int(spec.ExitInterrupted), errors.Join(errEnded, err)
		}
		message = err.Error()
	}
	code := spec.CodeOf(err)
	result := launch.Result{Code: code, Message: spec.Shorten(message), Time: time.Now().UTC()}
	if err := launch.End(hostRoot, uid, name, result); err != nil {
		return 0, fmt.Errorf("keep the step's result: %w", err)
	}
	cmd.Println(message)
	if code == spec.ExitFailed && stranded(cmd, uid, name) {
		cmd.Println("this control plane does not serve, so no Pod can come back to it: beginning the step again from here")
		return int(spec.ExitAgain), nil
	}
	return int(code), nil
}

// stranded says whether a step that failed has left a control plane whose API server, and so perhaps whose kubelet, does not serve.
func stranded(cmd *cobra.Command, uid string, name v1alpha1.StepName) bool {
	s, m, err := launch.Load(hostRoot, uid)
	if err != nil || !s.ControlPlane() || !execute.ChangesHost(name) {
		return false
	}
	t := &task.Task{Host: &host.Host{Root: hostRoot, Clock: clock.RealClock{}, Log: host.NewLog(io.Discard, clock.RealClock{}), Disk: replace.OS{}},
		Spec: s, Bundle: m}
	return controlplane.Up(cmd.Context(), t) != ""
}

func stepOnHost(cmd *cobra.Command, uid string, name v1alpha1.StepName) (string, error) {
	s, m, err := launch.Load(hostRoot, uid)
	if err != nil {
		return "", err
	}
	makeStep, err := execute.HostStep(name)
	if err != nil {
		return "", err
	}
	if execute.ChangesHost(name) {
		if err := launch.Begin(hostRoot, uid, name); err != nil {
			return "", err
		}
	}
	systemd, err := host.DialSystemd(cmd.Context(), hostRoot)
	if err != nil {
		return "", err
	}
	defer systemd.Close()
	req := execute.Request{Root: hostRoot, Spec: s, Bundle: m, Output: io.Discard, Clock: clock.RealClock{}, Systemd: systemd}
	return execute.Step(cmd.Context(), req, name, makeStep)
}

func resumeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "resume",
		Short: "Go on with the step that a power cut interrupted",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			systemd, err := host.DialSystemd(cmd.Context(), hostRoot)
			if err != nil {
				return err
			}
			defer systemd.Close()
			message, err := launch.Resume(cmd.Context(), hostRoot, systemd)
			if err == nil {
				cmd.Println(message)
			}
			return err
		},
	}
}

func reportCommand() *cobra.Command {
	var root, uid string
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Sum up what an upgrade did on the node",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if uid == "" {
				s, err := spec.Parse(os.Getenv(spec.EnvSpec))
				if err != nil {
					return fmt.Errorf("%s: %w", spec.EnvSpec, err)
				}
				uid = s.UpgradeUID
			}
			return report.Write(cmd.OutOrStdout(), root, uid)
		},
	}
	cmd.Flags().StringVar(&root, "host-root", "/proc/1/root", "the host's root folder, as seen from here")
	cmd.Flags().StringVar(&uid, "upgrade", "", "UID of the NodeUpgrade; default: the one in "+spec.EnvSpec)
	return cmd
}
