package cli

import (
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/cobra"

	"refit.dev/refit/internal/node/spec"
)

func TestEveryCommandHasAnExampleOfItself(t *testing.T) {
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		for _, child := range cmd.Commands() {
			check(child)
		}
		if cmd.Hidden || !cmd.Runnable() {
			return
		}
		NewWithT(t).Expect(cmd.Example).To(ContainSubstring(cmd.CommandPath()), cmd.CommandPath())
		for _, line := range strings.Split(cmd.Example, "\n") {
			NewWithT(t).Expect(line).To(HavePrefix("  "), cmd.CommandPath())
		}
	}
	check(newRoot(newApp(Streams{})))
}

func TestEveryExitCodeOfAStepIsTold(t *testing.T) {
	told := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(stepExitCodes), "\n") {
		told[strings.Fields(line)[0]] = true
	}
	for _, code := range []spec.ExitCode{spec.ExitDone, spec.ExitFailed, spec.ExitRefused, spec.ExitDrainTimedOut,
		spec.ExitRolledBack, spec.ExitAgain, spec.ExitInterrupted} {
		NewWithT(t).Expect(told).To(HaveKey(strconv.Itoa(int(code))))
	}
}
