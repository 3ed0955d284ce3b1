package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/cli/print"
)

type logFlags struct {
	step   string
	follow bool
}

func newLogs(a *app) *cobra.Command {
	var f logFlags
	cmd := &cobra.Command{
		Use:   "logs NODE",
		Short: "Print what the steps on a node said",
		Long: `Print what the steps of a node's latest upgrade said, each under its name. The output of the attempt before the last,
and that of a node whose pod is gone, is on the node in /var/lib/refit/logs.`,
		Example: `  refit logs cp-1
  refit logs worker-3 --step drain
  refit logs cp-2 -f`,
		Args:              oneNode,
		ValidArgsFunction: a.completeOne(a.nodeNames),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.logs(cmd, args[0], f) },
	}
	cmd.Flags().StringVar(&f.step, "step", "", "this step alone: "+strings.Join(stepNames(), ", "))
	cmd.Flags().BoolVarP(&f.follow, "follow", "f", false, "go on until the node's upgrade has ended")
	_ = cmd.RegisterFlagCompletionFunc("step", cobra.FixedCompletions(stepNames(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// logReader prints the logs of one node's upgrader pods.
type logReader struct {
	app   *app
	c     client.Client
	pods  kubernetes.Interface
	node  string
	flags logFlags
	// done are the containers that were printed to their end, by pod UID and name.
	done map[string]bool
}

func (a *app) logs(cmd *cobra.Command, node string, f logFlags) error {
	limit := defaultTimeout
	if f.follow {
		limit = watchTimeout
	}
	ctx, cancel := a.bounded(cmd, limit)
	defer cancel()
	if steps := stepNames(); f.step != "" && !slices.Contains(steps, f.step) {
		return usageError(fmt.Errorf("there is no step %q%s; steps are %s", f.step, suggest(f.step, steps), strings.Join(steps, ", ")))
	}
	c, err := a.connect()
	if err != nil {
		return err
	}
	config, err := a.restConfig()
	if err != nil {
		return err
	}
	pods, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("connect to the cluster: %w", err)
	}
	r := &logReader{app: a, c: c, pods: pods, node: node, flags: f, done: map[string]bool{}}
	if !f.follow {
		_, err := r.pass(ctx)
		return err
	}
	return r.followAll(ctx)
}

// followAll prints what is there, again and again, until the node's upgrade has ended.
func (r *logReader) followAll(ctx context.Context) error {
	for {
		ended, err := r.pass(ctx)
		if ended || err != nil && !passing(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-r.app.clock.After(time.Second):
		}
	}
}

// passing says whether an error goes away by itself: an API server that restarts, a container that has not started yet.
func passing(err error) bool {
	return !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) && !errors.Is(err, context.Canceled)
}

// pass prints each step that has begun and was not printed yet.
func (r *logReader) pass(ctx context.Context) (ended bool, err error) {
	upgrade, err := latestOf(ctx, r.c, r.node)
	if err != nil {
		return !passing(err), err
	}
	ended = upgrade.Status.Phase.Ended()
	if upgrade.Status.Pod == "" {
		if !r.flags.follow {
			return true, fmt.Errorf("nothing has been done to node %s yet: its upgrade is %s", r.node, orUnknown(string(upgrade.Status.Phase)))
		}
		return ended, nil
	}
	pod, err := r.pods.CoreV1().Pods(upgrade.Namespace).Get(ctx, upgrade.Status.Pod, getOptions())
	if apierrors.IsNotFound(err) {
		if ended || !r.flags.follow {
			r.fromStatus(upgrade)
			return true, nil
		}
		return false, nil // the next attempt's pod is about to be made
	}
	if err != nil {
		return ended, fmt.Errorf("read pod %s: %w", upgrade.Status.Pod, err)
	}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if r.flags.step != "" && s.Name != r.flags.step || s.State.Running == nil && s.State.Terminated == nil {
			continue
		}
		if err := r.container(ctx, pod, s); err != nil {
			return ended, err
		}
	}
	return ended, nil
}

func (r *logReader) container(ctx context.Context, pod *corev1.Pod, s corev1.ContainerStatus) error {
	key := string(pod.UID) + "/" + s.Name
	if r.done[key] {
		return nil
	}
	r.app.say("== %s %s", s.Name, containerText(s, r.app.clock.Now()))
	stream, err := r.pods.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name,
		&corev1.PodLogOptions{Container: s.Name, Follow: r.flags.follow}).Stream(ctx)
	if err != nil {
		return fmt.Errorf("read the log of step %s on node %s: %w", s.Name, r.node, err)
	}
	defer stream.Close()
	if _, err := io.Copy(r.app.Out, stream); err != nil {
		return fmt.Errorf("read the log of step %s on node %s: %w", s.Name, r.node, err)
	}
	r.done[key] = true
	return nil
}

// fromStatus prints what is left of a pod that is gone: what its steps last said.
func (r *logReader) fromStatus(u *v1alpha1.NodeUpgrade) {
	r.app.note("The upgrader pod of node %s is gone. This is what its steps said last; the whole output is on the node in /var/lib/refit/logs.", r.node)
	for _, s := range u.Status.Steps {
		if s.StartedAt == nil || r.flags.step != "" && string(s.Name) != r.flags.step {
			continue
		}
		r.app.say("== %s (%s)", s.Name, s.State)
		if s.Message != "" {
			r.app.say("%s", s.Message)
		}
	}
}

func containerText(s corev1.ContainerStatus, now time.Time) string {
	switch t := s.State.Terminated; {
	case t != nil && t.ExitCode == 0:
		return "(done in " + print.Duration(t.FinishedAt.Sub(t.StartedAt.Time)) + ")"
	case t != nil:
		return fmt.Sprintf("(failed with exit code %d after %s)", t.ExitCode, print.Duration(t.FinishedAt.Sub(t.StartedAt.Time)))
	}
	return "(running for " + print.Duration(now.Sub(s.State.Running.StartedAt.Time)) + ")"
}
