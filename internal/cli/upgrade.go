package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

type upgradeFlags struct {
	watch, yes bool
	mode       string
	plan       string
	exclude    []string
}

func newUpgrade(a *app) *cobra.Command {
	var f upgradeFlags
	cmd := &cobra.Command{
		Use:   "upgrade VERSION",
		Short: "Bring every node to a Kubernetes version",
		Long: `Bring every node to a Kubernetes version: control planes first, one at a time, then workers. The same checks as by
'refit plan' come first; where a gate is closed, nothing is started and the exit code is 3. The upgrade runs in the
cluster: it goes on without this command.

On a terminal it asks first; --yes answers. Without one, as in a script, nothing is asked.`,
		Example: `  refit upgrade v1.36.3
  refit upgrade v1.36.3 --watch --yes
  refit upgrade v1.36.3 --mode Manual
  refit upgrade v1.36.3 --exclude-gate removed-apis`,
		Args:              a.versionArgument,
		ValidArgsFunction: a.completeOne(a.versionNames),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.upgrade(cmd, args[0], f) },
	}
	flags := cmd.Flags()
	flags.BoolVarP(&f.watch, "watch", "w", false, "show the upgrade until it has ended")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	flags.StringVar(&f.mode, "mode", string(v1alpha1.ModeAutomatic), "Automatic, or Manual: each step waits for 'refit step'")
	sharedPlanFlags(a, cmd, &f.plan, &f.exclude)
	_ = cmd.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions([]string{string(v1alpha1.ModeAutomatic), string(v1alpha1.ModeManual)}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (f *upgradeFlags) check() error {
	if f.mode != string(v1alpha1.ModeAutomatic) && f.mode != string(v1alpha1.ModeManual) {
		return usageError(fmt.Errorf("--mode must be %s or %s", v1alpha1.ModeAutomatic, v1alpha1.ModeManual))
	}
	return checkGateNames(f.exclude)
}

func (a *app) upgrade(cmd *cobra.Command, to string, f upgradeFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	to, err := versionOf(to)
	if err != nil {
		return err
	}
	name, err := a.startUpgrade(cmd, to, f)
	if err != nil {
		return err
	}
	if f.watch {
		return a.follow(cmd, watching{upgrade: name})
	}
	a.say("Watch it with `refit status --watch`.")
	return nil
}

// startUpgrade checks and starts, and gives the name of the upgrade.
func (a *app) startUpgrade(cmd *cobra.Command, to string, f upgradeFlags) (string, error) {
	c, err := a.connect()
	if err != nil {
		return "", err
	}
	forecast, err := a.mayStart(cmd, c, to, f)
	if err != nil {
		return "", err
	}
	if !f.yes && a.asks() {
		// Out of the time that --timeout gives: a person may think as long as they like.
		if err := a.ask(cmd.Context(), forecast.question(), "not started"); err != nil {
			return "", err
		}
	}
	ctx, cancel := a.starting(cmd, f)
	defer cancel()
	upgrade := &v1alpha1.KubernetesUpgrade{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "upgrade-" + to + "-"},
		Spec:       v1alpha1.KubernetesUpgradeSpec{ToVersion: to, Mode: v1alpha1.UpgradeMode(f.mode), Plan: f.plan, ExcludedGates: f.exclude},
	}
	if err := c.Create(ctx, upgrade, client.FieldOwner("refit")); err != nil {
		return "", fmt.Errorf("create the upgrade: %w", err)
	}
	a.say("upgrade %s is started: %s", upgrade.Name, forecast.summary())
	a.warnWithoutManager(ctx, c)
	return upgrade.Name, nil
}

// starting gives the context of what starts an upgrade. With --watch, --timeout is for the watching.
func (a *app) starting(cmd *cobra.Command, f upgradeFlags) (context.Context, context.CancelFunc) {
	if f.watch {
		return context.WithTimeout(cmd.Context(), defaultTimeout)
	}
	return a.bounded(cmd, defaultTimeout)
}

// mayStart says what the upgrade would do; the error says what is in its way.
func (a *app) mayStart(cmd *cobra.Command, c client.Client, to string, f upgradeFlags) (*forecast, error) {
	ctx, cancel := a.starting(cmd, f)
	defer cancel()
	if err := refuseSecond(ctx, c); err != nil {
		return nil, err
	}
	forecast, err := a.forecast(ctx, c, to, f.plan, f.exclude)
	if err != nil {
		return nil, err
	}
	return forecast, a.refuseBlocked(forecast)
}

// refuseSecond keeps two upgrades from running at once. The gate for it can be excluded, this cannot.
func refuseSecond(ctx context.Context, c client.Reader) error {
	upgrades, err := listUpgrades(ctx, c)
	if err != nil {
		return err
	}
	if u := unfinished(upgrades); u != nil {
		return &exitError{code: ExitBlocked, err: notEnded(u)}
	}
	return nil
}

// ask has a person confirm; the error for a no says what did not happen. The answer is read apart, so that Ctrl-C works while
// it is awaited.
func (a *app) ask(ctx context.Context, question, declined string) error {
	_, _ = fmt.Fprintf(a.ErrOut, "%s [y/N] ", question)
	answers := make(chan string, 1)
	go func() {
		line, err := bufio.NewReader(a.In).ReadString('\n')
		if err != nil {
			line = ""
		}
		answers <- line
	}()
	select {
	case <-ctx.Done():
		a.note("") // the question's line has no end yet
	case answer := <-answers:
		if answer = strings.ToLower(strings.TrimSpace(answer)); answer == "y" || answer == "yes" {
			return nil
		}
	}
	return errors.New(declined)
}
