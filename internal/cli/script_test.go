package cli

import (
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs what needs no cluster.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: offline, RequireExplicitExec: true, Cmds: map[string]func(*testscript.TestScript, bool, []string){
		"programs": programs,
		"damage":   damage,
	}})
}

// TestBareClusterScripts runs what concerns a cluster that does not have Refit's kinds yet.
func TestBareClusterScripts(t *testing.T) {
	runWithCluster(t, "testdata/bare", withoutKinds)
}

// TestClusterScripts runs against a real API server that knows Refit's kinds.
func TestClusterScripts(t *testing.T) {
	runWithCluster(t, "testdata/cluster", withKinds)
}

func runWithCluster(t *testing.T, dir string, prepare func(*testing.T)) {
	server.start(t)
	prepare(t)
	testscript.RunT(serial{t}, testscript.Params{Dir: dir, Setup: online, RequireExplicitExec: true, Cmds: map[string]func(*testscript.TestScript, bool, []string){
		"apply":    apply,
		"until":    until,
		"programs": programs,
		"damage":   damage,
	}})
}

// serial runs scripts one after another: they share a cluster.
type serial struct{ *testing.T }

func (s serial) Parallel()     {}
func (s serial) Verbose() bool { return testing.Verbose() }
func (s serial) Run(name string, f func(testscript.T)) {
	s.T.Run(name, func(t *testing.T) { f(serial{t}) })
}

// offline gives a script a registry of its own, and no kubeconfig.
func offline(env *testscript.Env) error {
	r := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	env.Defer(r.Close)
	env.Setenv("REGISTRY", strings.TrimPrefix(r.URL, "http://"))
	env.Setenv("HOME", env.WorkDir)
	env.Setenv("NO_COLOR", "1")
	return nil
}

// online gives a script an empty cluster as well, whose address is in KUBECONFIG.
func online(env *testscript.Env) error {
	if err := offline(env); err != nil {
		return err
	}
	if err := wipe(); err != nil {
		return err
	}
	for name, content := range map[string][]byte{"admin": server.admin, "nobody": server.nobody} {
		if err := os.WriteFile(filepath.Join(env.WorkDir, name+".kubeconfig"), content, 0o600); err != nil {
			return err
		}
	}
	env.Setenv("KUBECONFIG", filepath.Join(env.WorkDir, "admin.kubeconfig"))
	return nil
}
