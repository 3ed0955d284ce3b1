package main

import (
	"bytes"
	"testing"

	. "github.com/onsi/gomega"
)

func TestBadInputIsAClearError(t *testing.T) {
	for name, test := range map[string]struct {
		args    []string
		message string
	}{
		"a bad number of control planes": {[]string{"up", "--control-planes", "0x"}, "--control-planes"},
		"a version of another world":     {[]string{"up", "--version", "v2.0.0"}, "--version"},
		"a bad name":                     {[]string{"down", "--name", "A B"}, "--name"},
		"publishing nothing":             {[]string{"publish"}, "v1.36.3"},
		"a bundle of nothing":            {[]string{"bundle"}, "v1.36.3"},
		"parts without a choice":         {[]string{"parts"}, "--envtest"},
		"a mirror that is no address":    {[]string{"parts", "--demo", "--mirror", "dl.k8s.io"}, "--mirror"},
		"a host without a name":          {[]string{"host", "power-cut"}, "accepts 1 arg"},
		"a copy without a host":          {[]string{"host", "copy", "a", "b"}, "HOST:/PATH"},
		"an unknown way to print":        {[]string{"status", "-o", "xml"}, "--output"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			root := newRoot()
			root.SetArgs(append(test.args, "--dir", t.TempDir()))
			root.SetOut(&bytes.Buffer{})
			root.SetErr(&bytes.Buffer{})
			g.Expect(root.ExecuteContext(t.Context())).To(MatchError(ContainSubstring(test.message)))
		})
	}
}
