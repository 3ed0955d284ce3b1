package cli

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestCloseNamesAreSuggested(t *testing.T) {
	known := []string{"worker-1", "worker-2", "worker-10", "cp-1"}
	for name, want := range map[string]string{
		"workr-1":  " (did you mean worker-1 or worker-2 or worker-10?)",
		"cp1":      " (did you mean cp-1?)",
		"worker-3": " (did you mean worker-1 or worker-2 or worker-10?)",
		"database": "",
	} {
		NewWithT(t).Expect(suggest(name, known)).To(Equal(want), name)
	}
}
