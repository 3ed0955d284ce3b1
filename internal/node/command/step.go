package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/bundle"
	"refit.dev/refit/internal/node/cluster"
	"refit.dev/refit/internal/node/execute"
	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/launch"
	"refit.dev/refit/internal/node/programs"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/node/task"
	"refit.dev/refit/internal/sequence"
)

type stepOptions struct {
	root, bundle, termination string
}

func stepCommand(code *int) *cobra.Command {
	var o stepOptions
	cmd := &cobra.Command{
		Use:   "step NAME",
		Short: "Run a step, in a container of an upgrader Pod",
		Long: "Run a step, in a container of an upgrader Pod. The steps: " + strings.Join(stepNames(), ", ") + ".\n" +
			spec.EnvSpec + " holds what is asked for as JSON, " + spec.EnvNodeName + " the name of the node.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			message, err := o.run(cmd.Context(), cmd, v1alpha1.StepName(args[0]))
			*code = o.end(cmd, message, err)
			return nil
		},
	}
	cmd.Flags().StringVar(&o.root, "host-root", "/proc/1/root", "the host's root folder, as seen from here")
	cmd.Flags().StringVar(&o.bundle, "bundle", bundle.Dir, "the folder of the version's programs")
	cmd.Flags().StringVar(&o.termination, "termination-log", "/dev/termination-log", "where the step's message goes")
	return cmd
}

func stepNames() []string {
	var names []string
	for _, n := range spec.Steps(v1alpha1.NodeTypeControlPlane) {
		names = append(names, string(n))
	}
	return names
}

func (o stepOptions) run(ctx context.Context, cmd *cobra.Command, name v1alpha1.StepName) (string, error) {
	if !slices.Contains(stepNames(), string(name)) {
		return "", spec.Refusef("there is no step %q; the steps are %s", name, strings.Join(stepNames(), ", "))
	}
	s, err := specFromEnvironment()
	if err != nil {
		return "", err
	}
	m, err := bundle.Read(o.bundle)
	if err != nil {
		return "", spec.Refusef("%w", err)
	}
	if m.Version != s.Version {
		return "", spec.Refusef("the upgrader image holds %s, but %s is asked for: see spec.image of KubernetesVersion %s", m.Version, s.Version, s.Version)
	}
	// What the host has begun is followed to its end also by a container that is told to end: the deletion of its Pod waits for that,
	// within the Pod's grace period, and nobody takes the node for idle meanwhile.
	toTheEnd := context.WithoutCancel(ctx)
	systemd, err := host.DialSystemd(toTheEnd, o.root)
	if err != nil {
		return "", err
	}
	defer systemd.Close()
	program, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the own program: %w", err)
	}
	req := execute.Request{Root: o.root, Spec: s, Bundle: m, Output: cmd.OutOrStdout(), Clock: clock.RealClock{}, Systemd: systemd}
	launcher := launch.Launcher{Root: o.root, Program: program, Spec: s, Bundle: m, Output: req.Output, Clock: req.Clock, Systemd: systemd}
	// What a power cut interrupted comes first. This very step is joined.
	if err := launcher.AwaitInFlight(toTheEnd, name); err != nil {
		return "", err
	}
	if ctx.Err() != nil {
		return "", fmt.Errorf("%w: this container was told to end before the step began", launch.ErrInterrupted)
	}
	if name == v1alpha1.StepCopyBinaries {
		return execute.Step(toTheEnd, req, name, func(t *task.Task) sequence.Step { return programs.Copy{Task: t, Source: o.bundle} })
	}
	var messages []string
	if _, err := execute.HostStep(name); err == nil {
		message, err := onHost(toTheEnd, launcher, name)
		if err != nil {
			return message, err
		}
		messages = append(messages, message)
	}
	message, err := inCluster(ctx, req, name)
	if message != "" {
		messages = append(messages, message)
	}
	return strings.Join(messages, "; "), err
}

func specFromEnvironment() (spec.Spec, error) {
	s, err := spec.Parse(os.Getenv(spec.EnvSpec))
	if err != nil {
		return s, spec.Refusef("%s: %w", spec.EnvSpec, err)
	}
	if here := os.Getenv(spec.EnvNodeName); here != "" && here != s.NodeName {
		return s, spec.Refusef("this Pod runs on node %s, but is to upgrade %s", here, s.NodeName)
	}
	return s, nil
}

func onHost(ctx context.Context, l launch.Launcher, name v1alpha1.StepName) (string, error) {
	result, err := l.Run(ctx, name)
	if err != nil {
		return "", err
	}
	if result.Code != spec.ExitDone {
		return "", &spec.Error{Code: result.Code, Err: errors.New(result.Message)}
	}
	return result.Message, nil
}

func inCluster(ctx context.Context, req execute.Request, name v1alpha1.StepName) (string, error) {
	if cluster.Step(name, nil) == nil {
		return "", nil
	}
	client, err := cluster.InCluster()
	if err != nil {
		return "", err
	}
	req.Answers = cluster.Answers(client)
	return execute.Step(ctx, req, name, cluster.Step(name, client))
}

// end writes the step's message where the kubelet reads it, and returns the exit code.
func (o stepOptions) end(cmd *cobra.Command, message string, err error) int {
	code := int(spec.CodeOf(err))
	if err != nil {
		message = err.Error()
	}
	if errors.Is(err, launch.ErrInterrupted) || (err != nil && cmd.Context().Err() != nil) {
		code = int(spec.ExitInterrupted)
	}
	message = spec.Shorten(message)
	host.NewLog(cmd.OutOrStdout(), clock.RealClock{}).Say("%s", message)
	if file, openErr := os.OpenFile(o.termination, os.O_WRONLY|os.O_TRUNC, 0); openErr == nil {
		_, writeErr := file.WriteString(message)
		if err := errors.Join(writeErr, file.Close()); err != nil {
			cmd.PrintErrln("write the termination message:", err)
		}
	}
	return code
}
