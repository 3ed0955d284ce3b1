package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// addBuiltin adds the commands that come with the library, help and completion, to the manners of the others: examples, and
// an error for what they do not know.
func addBuiltin(root *cobra.Command) {
	root.SetHelpCommandGroupID("about")
	root.SetCompletionCommandGroupID("about")
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Example = "  refit help upgrade\n  refit help exit-codes"
			cmd.Args = helpTopic
		case "completion":
			cmd.Example = "  source <(refit completion bash)"
			cmd.Args = noSubcommand
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			for _, shell := range cmd.Commands() {
				shell.Example = "  " + loadCompletion[shell.Name()]
			}
		}
	}
}

// loadCompletion is how each shell takes its completion in for a session.
var loadCompletion = map[string]string{
	"bash":       "source <(refit completion bash)",
	"zsh":        "source <(refit completion zsh)",
	"fish":       "refit completion fish | source",
	"powershell": "refit completion powershell | Out-String | Invoke-Expression",
}

// helpTopic wants the name of a command, or of another thing that there is help on.
func helpTopic(cmd *cobra.Command, args []string) error {
	found, rest, err := cmd.Root().Find(args)
	if err == nil && len(rest) == 0 {
		return nil
	}
	known := append(subcommands(found), topics(found)...)
	unknown := strings.Join(args, " ")
	return fmt.Errorf("there is no help on %q%s; there is on %s", unknown, suggest(unknown, known), strings.Join(known, ", "))
}

// topics are the children that only hold a text.
func topics(cmd *cobra.Command) []string {
	var names []string
	for _, child := range cmd.Commands() {
		if child.IsAdditionalHelpTopicCommand() {
			names = append(names, child.Name())
		}
	}
	return names
}
