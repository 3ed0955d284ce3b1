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
cluster: it goes on without this command.`,
		Example: `  refit upgrade v1.36.3
  refit upgrade v1.36.3 --watch --yes
  refit upgrade v1.36.3 --mode Manual
  refit upgrade v1.36.3 --exclude-gate removed-apis`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeOne(a.versionNames),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.upgrade(cmd, args[0], f) },
	}
	flags := cmd.Flags()
	flags.BoolVarP(&f.watch, "watch", "w", false, "show the upgrade until it has ended")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	flags.StringVar(&f.mode, "mode", string(v1alpha1.ModeAutomatic), "Automatic, or Manual: each step waits for 'refit step'")
	planFlags(a, cmd, &f.plan, &f.exclude)
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
	name, err := a.startUpgrade(cmd, to, f)
	if err != nil || name == "" {
		return err
	}
	if f.watch {
		return a.follow(cmd, name)
	}
	a.say("Watch it with `refit status --watch`.")
	return nil
}

// startUpgrade checks and starts, and gives the name of the upgrade; empty where the person said no.
func (a *app) startUpgrade(cmd *cobra.Command, to string, f upgradeFlags) (string, error) {
	ctx, cancel := a.bounded(cmd, defaultTimeout)
	if f.watch { // --timeout is for the watching, then
		cancel()
		ctx, cancel = context.WithTimeout(cmd.Context(), defaultTimeout)
	}
	defer cancel()
	c, err := a.connect()
	if err != nil {
		return "", err
	}
	if err := refuseSecond(ctx, c); err != nil {
		return "", err
	}
	forecast, err := a.forecast(ctx, c, to, f.plan, f.exclude)
	if err != nil {
		return "", err
	}
	if err := a.refuseBlocked(forecast); err != nil {
		return "", err
	}
	if !f.yes && a.asks() {
		if err := a.ask(ctx, forecast.question()); err != nil {
			return "", err
		}
	}
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

// refuseSecond keeps two upgrades from running at once. The gate for it can be excluded, this cannot.
func refuseSecond(ctx context.Context, c client.Reader) error {
	upgrades, err := listUpgrades(ctx, c)
	if err != nil {
		return err
	}
	if u := unfinished(upgrades); u != nil {
		return fmt.Errorf("upgrade %s to %s has not ended (%s): see `refit status`; wait until it has, or end it with `refit abort`", u.Name, u.Spec.ToVersion, stateOf(u))
	}
	return nil
}

var errDeclined = errors.New("not started")

// ask has a person confirm. The answer is read apart, so that Ctrl-C works while it is awaited.
func (a *app) ask(ctx context.Context, question string) error {
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
		return errDeclined
	case answer := <-answers:
		if answer = strings.ToLower(strings.TrimSpace(answer)); answer == "y" || answer == "yes" {
			return nil
		}
		return errDeclined
	}
}
