package cli

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestAVersionIsReadWithAndWithoutItsV(t *testing.T) {
	g := NewWithT(t)
	for typed, want := range map[string]string{"v1.36.3": "v1.36.3", "1.36.3": "v1.36.3", "1.36.0-rc.1": "v1.36.0-rc.1"} {
		got, err := versionOf(typed)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got).To(Equal(want))
	}
	for typed, want := range map[string]string{"1.36": "is a minor", "v1.36": "such as v1.36.3", "latest": "is not a Kubernetes version",
		"vv1.36.3": "is not a Kubernetes version", "2.0.0": "is not a Kubernetes version"} {
		_, err := versionOf(typed)
		g.Expect(err).To(MatchError(ContainSubstring(want)), typed)
		g.Expect(exitCode(err)).To(Equal(ExitUsage), typed)
	}
}
