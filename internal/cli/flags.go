package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// wrongFlag says what is wrong with a flag, and which ones there are.
func wrongFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return usageError(fmt.Errorf("%w\nRun '%s --help' for usage", err, cmd.CommandPath()))
	}
	var own, all []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { all = append(all, "--"+f.Name) })
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { own = append(own, flagText(f)) })
	close := ""
	if name := unknown.GetSpecifiedName(); len(name) > 1 { // of a single letter everything is close
		close = suggest("--"+name, all)
	}
	return usageError(fmt.Errorf("%w%s; flags of '%s' are %s\nRun '%s --help' for what they do, and for those of every command",
		err, close, cmd.CommandPath(), strings.Join(own, ", "), cmd.CommandPath()))
}

func flagText(f *pflag.Flag) string {
	if f.Shorthand == "" {
		return "--" + f.Name
	}
	return "-" + f.Shorthand + "/--" + f.Name
}
