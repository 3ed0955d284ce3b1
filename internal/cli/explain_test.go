package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"testing"

	. "github.com/onsi/gomega"
)

func TestAnErrorIsLaidToWhatItIsOf(t *testing.T) {
	_, noFile := os.Open("/nowhere/to/be/found")
	refused := &url.Error{Op: "Get", URL: "https://10.0.0.1/x", Err: &net.OpError{Op: "dial", Err: errors.New("connection refused")}}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"an API server that refuses":       {fmt.Errorf("list nodes: %w", refused), "the API server does not answer: list nodes"},
		"an API server that is silent":     {&url.Error{Op: "Get", URL: "https://10.0.0.1/x", Err: context.DeadlineExceeded}, "the API server did not answer in time"},
		"a registry that refuses":          {ofRegistry(refused, "registry.site/bundle:v1"), "registry registry.site cannot be reached"},
		"a registry that nobody named":     {ofRegistry(refused, "bundle:v1"), "bundle:v1 names no registry, so index.docker.io was tried"},
		"a registry that is silent":        {ofRegistry(context.DeadlineExceeded, "registry.site/bundle:v1"), "--timeout allows more time"},
		"a registry without TLS":           {ofRegistry(&url.Error{Op: "Get", URL: "https://x", Err: http.ErrSchemeMismatch}, "registry.site/b:v1"), "pass --insecure if that is meant"},
		"a file is no server":              {noFile, "open /nowhere/to/be/found: no such file or directory"},
		"a file is no registry either":     {ofRegistry(noFile, "registry.site/bundle:v1"), "open /nowhere/to/be/found: no such file or directory"},
		"a time that is over is no server": {context.DeadlineExceeded, "this took longer than --timeout allows"},
	} {
		NewWithT(t).Expect(explain(c.err).Error()).To(ContainSubstring(c.want), name)
		if name != "an API server that refuses" && name != "an API server that is silent" {
			NewWithT(t).Expect(explain(c.err).Error()).NotTo(ContainSubstring("API server"), name)
		}
	}
}
