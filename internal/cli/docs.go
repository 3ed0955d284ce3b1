package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newDocs writes the reference of the commands, for docs/.
func newDocs(*app) *cobra.Command {
	return &cobra.Command{
		Use:    "docs FOLDER",
		Short:  "Write the reference of the commands",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("make the folder of the reference: %w", err)
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			asMarkdown(root)
			if err := doc.GenMarkdownTree(root, args[0]); err != nil {
				return fmt.Errorf("write the reference: %w", err)
			}
			page := "# Exit codes\n\n" + exitCodesOf + "\n\n```\n" + exitCodes + "```\n\n" + exitCodesOfSteps + "\n\n```\n" + stepExitCodes + "```\n"
			return os.WriteFile(filepath.Join(args[0], "exit-codes.md"), []byte(page), 0o644)
		},
	}
}

// asMarkdown indents the lists in help texts so far that Markdown keeps their lines as they are.
func asMarkdown(cmd *cobra.Command) {
	cmd.Long = strings.ReplaceAll(cmd.Long, "\n  ", "\n      ")
	for _, child := range cmd.Commands() {
		asMarkdown(child)
	}
}

// What the exit codes are those of.
const (
	exitCodesOf      = "The exit codes of refit:"
	exitCodesOfSteps = "The exit codes of a step on a node, as `refit logs` and systemd on the node show them:"
)

// newExitCodes is a help topic: a command without anything to run.
func newExitCodes(*app) *cobra.Command {
	return &cobra.Command{Use: "exit-codes", Short: "The exit codes of refit, and of the steps on a node",
		Long: exitCodesOf + "\n\n" + indent(exitCodes) + "\n\n" + exitCodesOfSteps + "\n\n" + indent(stepExitCodes)}
}
