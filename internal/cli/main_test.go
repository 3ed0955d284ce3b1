package cli

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// TestMain makes `refit` and `kubectl-refit` programs of the test scripts.
func TestMain(m *testing.M) {
	run := func() {
		os.Exit(Run(context.Background(), os.Args, Streams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}))
	}
	testscript.Main(stopping{m}, map[string]func(){"refit": run, "kubectl-refit": run})
}

// stopping ends the API server after the tests.
type stopping struct{ *testing.M }

func (s stopping) Run() int {
	code := s.M.Run()
	if err := server.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the API server:", err)
		return 1
	}
	return code
}

// apiServer is a real kube-apiserver, started when the first test asks for it.
type apiServer struct {
	once        sync.Once
	err         error
	environment *envtest.Environment
	client      client.Client
	// admin and nobody are kubeconfigs; nobody has no rights.
	admin, nobody []byte
}

var server apiServer

func (s *apiServer) start(t *testing.T) {
	t.Helper()
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		t.Fatal("KUBEBUILDER_ASSETS is not set: it names the folder with kube-apiserver and etcd; `make test` sets it")
	}
	s.once.Do(func() { s.err = s.begin() })
	if s.err != nil {
		t.Fatalf("start the API server: %v", s.err)
	}
}

func (s *apiServer) begin() error {
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	s.environment = &envtest.Environment{Scheme: scheme}
	config, err := s.environment.Start()
	if err != nil {
		return err
	}
	for name, kubeconfig := range map[string]*[]byte{"admin": &s.admin, "nobody": &s.nobody} {
		groups := map[string][]string{"admin": {"system:masters"}}[name]
		user, err := s.environment.AddUser(envtest.User{Name: name, Groups: groups}, nil)
		if err != nil {
			return err
		}
		if *kubeconfig, err = user.KubeConfig(); err != nil {
			return err
		}
	}
	s.client, err = client.New(config, client.Options{Scheme: scheme})
	return err
}

func (s *apiServer) stop() error {
	if s.environment == nil {
		return nil
	}
	return s.environment.Stop()
}
