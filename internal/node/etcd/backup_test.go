package etcd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"refit.dev/refit/internal/node/etcd"
	"refit.dev/refit/internal/node/fakehost"
	"refit.dev/refit/internal/node/spec"
)

func TestBackup(t *testing.T) {
	snapshots := func(g *WithT, h *fakehost.Host) []string {
		found, err := filepath.Glob(h.Path(spec.EtcdDir + "/*"))
		g.Expect(err).NotTo(HaveOccurred())
		for i := range found {
			found[i] = filepath.Base(found[i])
		}
		return found
	}
	run := func(t *testing.T, h *fakehost.Host, s spec.Spec) (string, error) {
		task := h.Task(s)
		return task.Runner("").Run(t.Context(), etcd.Backup{Task: task})
	}

	t.Run("takes a snapshot that only root reads, and says what is in it", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		g.Expect(run(t, h, h.Spec())).To(And(ContainSubstring("revision 42, 7 keys"), ContainSubstring("hash 000000ff")))
		g.Expect(snapshots(g, h)).To(ConsistOf(HavePrefix("etcd-cp-1-v1.36.3-0123-")))
		info, err := os.Stat(h.Path(spec.EtcdDir + "/" + snapshots(g, h)[0]))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
	})

	t.Run("begun again a moment later, takes no second one", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		h.Clock = fakehost.NewFastClock(1)
		_, err := run(t, h, h.Spec())
		g.Expect(err).NotTo(HaveOccurred())
		_, err = run(t, h, h.Spec())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(snapshots(g, h)).To(HaveLen(1))
	})

	t.Run("keeps the three newest of each member, and what is not its own", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		h.Write(spec.EtcdDir+"/notes.txt", "mine", 0o600)
		h.Write(spec.EtcdDir+"/etcd-cp-2-v1.36.3-0123-20260101T000000Z.db", "another's", 0o600)
		for day := 1; day <= 5; day++ {
			name := spec.EtcdDir + "/etcd-cp-1-v1.34.0-abcd-2026010" + string(rune('0'+day)) + "T000000Z.db"
			h.Write(name, "old", 0o600)
			when := time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)
			g.Expect(os.Chtimes(h.Path(name), when, when)).To(Succeed())
		}
		_, err := run(t, h, h.Spec())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(snapshots(g, h)).To(ConsistOf("notes.txt", HavePrefix("etcd-cp-2-"), HavePrefix("etcd-cp-1-v1.36.3"),
			ContainSubstring("20260105"), ContainSubstring("20260104")))
	})

	t.Run("keeps the copy of another control plane's member under that one's name", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		s := h.Spec()
		s.BackupEndpoint, s.BackupOf = "https://10.0.0.2:2379", "cp-2"
		g.Expect(run(t, h, s)).To(ContainSubstring("etcd-cp-2-"))
	})

	t.Run("does not pass an empty or a broken snapshot off as a backup", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		h.Stage("bin/etcdutl", "#!/bin/sh\necho '{\"hash\":1,\"revision\":0,\"totalKey\":0}'\n")
		_, err := run(t, h, h.Spec())
		g.Expect(err).To(MatchError(ContainSubstring("is empty")))
		g.Expect(snapshots(g, h)).NotTo(ContainElement(HavePrefix("etcd-cp-1")))
	})

	t.Run("says so where etcd is external", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		h.Remove("/etc/kubernetes/pki/etcd/server.crt")
		g.Expect(run(t, h, h.Spec())).To(ContainSubstring("external etcd"))
	})

	t.Run("names what etcdctl said when etcd does not answer", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		h.Stage("bin/etcdctl", "#!/bin/sh\necho 'Error: context deadline exceeded' >&2\nexit 1\n")
		_, err := run(t, h, h.Spec())
		g.Expect(err).To(MatchError(And(ContainSubstring("does not answer"), ContainSubstring("deadline exceeded"))))
		g.Expect(strings.Contains(err.Error(), "healthcheck-client.key")).To(BeFalse())
	})
}
