package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// one wants exactly one argument, by the name that the usage line gives it; hint says where to find one.
func one(name, hint string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 || args[0] == "" {
			return fmt.Errorf("%s is missing: %s", name, hint)
		}
		return atMostOne(name, args)
	}
}

// maybeUpgrade wants the name of an upgrade, or nothing.
func maybeUpgrade(_ *cobra.Command, args []string) error { return atMostOne("UPGRADE", args) }

func atMostOne(name string, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("there can be but one %s: %s is too much", name, strings.Join(args[1:], " "))
	}
	return nil
}

// none is for commands without arguments.
func none(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments: %s is too much", cmd.CommandPath(), strings.Join(args, " "))
	}
	return nil
}

// noSubcommand is for commands that only hold others: whatever is left of the line was to be one of these.
func noSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	known := subcommands(cmd)
	return fmt.Errorf("unknown command %q for %q%s; commands are %s",
		args[0], cmd.CommandPath(), suggest(args[0], known), strings.Join(known, ", "))
}

func subcommands(cmd *cobra.Command) []string {
	var names []string
	for _, child := range cmd.Commands() {
		if child.IsAvailableCommand() || child.Name() == "help" {
			names = append(names, child.Name())
		}
	}
	return names
}

// oneNode wants the name of a node.
var oneNode = one("NODE", "`refit nodes` lists the nodes")

// require marks flags without which a command cannot run.
func require(cmd *cobra.Command, flags ...string) {
	check := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		var missing []string
		for _, name := range flags {
			if !cmd.Flags().Changed(name) {
				missing = append(missing, "--"+name)
			}
		}
		switch len(missing) {
		case 0:
			return check(cmd, args)
		case 1:
			return fmt.Errorf("%s is missing", missing[0])
		}
		return fmt.Errorf("%s are missing", strings.Join(missing, ", "))
	}
}

// checkArguments makes every wrong argument a usage error.
func checkArguments(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return usageError(fmt.Errorf("%w\nUsage: %s", err, cmd.UseLine()))
			}
			return nil
		}
	}
	for _, child := range cmd.Commands() {
		checkArguments(child)
	}
}
