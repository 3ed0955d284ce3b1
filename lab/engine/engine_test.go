package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// fakeDocker puts a docker command on the PATH that runs the script.
func fakeDocker(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "docker"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func TestOutputIsWhatTheCommandPrints(t *testing.T) {
	g := NewWithT(t)
	fakeDocker(t, `echo "$@"; echo noise >&2`)
	g.Expect(Output(t.Context(), "ps", "--all")).To(Equal("ps --all"))
}

func TestStandardInputReachesTheCommand(t *testing.T) {
	g := NewWithT(t)
	fakeDocker(t, "cat")
	g.Expect(Do(t.Context(), Call{Stdin: strings.NewReader("hello")})).To(Equal("hello"))
}

func TestAFailureHoldsWhatTheCommandSaid(t *testing.T) {
	g := NewWithT(t)
	fakeDocker(t, "echo no such container >&2; exit 3")
	_, err := Output(t.Context(), "kill", "x")
	var failure *Failure
	g.Expect(err).To(BeAssignableToTypeOf(failure))
	g.Expect(err).To(MatchError(ContainSubstring("docker kill x: exit code 3: no such container")))
}

func TestACommandThatHangsIsEnded(t *testing.T) {
	g := NewWithT(t)
	fakeDocker(t, "echo stuck; exec sleep 60")
	begun := time.Now()
	_, err := Do(t.Context(), Call{Args: []string{"pull"}, Deadline: 200 * time.Millisecond})
	g.Expect(err).To(MatchError(ContainSubstring("did not end within 200ms: stuck")))
	g.Expect(time.Since(begun)).To(BeNumerically("<", 10*time.Second))
}

func TestTroubleWithTheEngineSaysWhatToDo(t *testing.T) {
	for name, test := range map[string]struct{ said, message string }{
		"an Engine that does not run": {"Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", "systemctl start docker"},
		"a user without rights":       {"permission denied while trying to connect to the Docker daemon socket", "group docker"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			fakeDocker(t, "echo '"+test.said+"' >&2; exit 1")
			_, err := Check(t.Context())
			g.Expect(err).To(MatchError(ContainSubstring(test.message)))
		})
	}
}

func TestWithoutADockerCommandItSaysWhatToInstall(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("PATH", t.TempDir())
	_, err := Check(t.Context())
	g.Expect(err).To(MatchError(ContainSubstring("install a Docker Engine")))
}

func TestTheBoundingSetIsReadFromTheEngine(t *testing.T) {
	g := NewWithT(t)
	proc := t.TempDir()
	for pid, files := range map[string][2]string{"7": {"sh\n", "CapBnd:\t0\n"}, "42": {"dockerd\n", "Name:\tdockerd\nCapBnd:\t000001fffeffffff\n"}} {
		g.Expect(os.Mkdir(filepath.Join(proc, pid), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(proc, pid, "comm"), []byte(files[0]), 0o644)).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(proc, pid, "status"), []byte(files[1]), 0o644)).To(Succeed())
	}
	set, found := daemonBoundingSet(proc)
	g.Expect(found).To(BeTrue())
	rights := Rights{Known: true, Capabilities: grantable(set, "20.10.24+dfsg1")}
	g.Expect(rights.Has("SYS_ADMIN")).To(BeTrue())
	g.Expect(rights.Has("SYS_RESOURCE")).To(BeFalse())
	g.Expect(rights.Has("BPF")).To(BeFalse(), "Engine 20.10 refuses this name")
	g.Expect(grantable(set, "28.2.2")).To(ContainElement("BPF"))
	g.Expect(rights.Flags()).NotTo(ContainElement("--privileged"))
}

func TestAnEngineThatCannotBeSeenIsTrusted(t *testing.T) {
	g := NewWithT(t)
	_, found := daemonBoundingSet(t.TempDir())
	g.Expect(found).To(BeFalse())
	g.Expect(Rights{}.Has("SYS_RESOURCE")).To(BeTrue())
	g.Expect(Rights{}.Flags()).To(Equal([]string{"--privileged"}))
}
