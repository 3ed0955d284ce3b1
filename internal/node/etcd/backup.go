package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"sort"
	"strings"
	"time"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/node/task"
)

const (
	// keepSnapshots is how many of a member's snapshots stay.
	keepSnapshots = 3
	// snapshotDeadline bounds the taking of one.
	snapshotDeadline = 5 * time.Minute
	// freshFor is how long a snapshot of the same upgrade counts, so that a step that is begun again takes no second one.
	freshFor = 10 * time.Minute
)

// Backup takes a snapshot of etcd and verifies it.
type Backup struct{ *task.Task }

// Name is the step's.
func (Backup) Name() string { return string(v1alpha1.StepBackupEtcd) }

// Deadline bounds the step.
func (b Backup) Deadline() time.Duration { return b.Spec.Deadline(v1alpha1.StepBackupEtcd) }

// Done looks for a snapshot of this upgrade that is fresh and whole.
func (b Backup) Done(ctx context.Context) (bool, string, error) {
	local, err := Local(b.Task)
	if err != nil {
		return false, "", err
	}
	if !local {
		return true, "etcd does not run on this node (external etcd): back it up where it runs", nil
	}
	snapshots, err := b.snapshots()
	if err != nil || len(snapshots) == 0 {
		return false, "no snapshot yet", err
	}
	latest := snapshots[len(snapshots)-1]
	info, err := os.Stat(b.Path(latest))
	if err != nil {
		return false, "", fmt.Errorf("look at snapshot %s: %w", latest, err)
	}
	if !strings.Contains(latest, b.mark()) || b.Clock.Since(info.ModTime()) > freshFor {
		return false, "the latest snapshot is of an earlier upgrade, or more than " + freshFor.String() + " old", nil
	}
	summary, err := b.verify(ctx, latest)
	if err != nil {
		return false, fmt.Sprintf("%s is not whole: %v", latest, err), nil
	}
	return true, summary, nil
}

// Run takes the snapshot under a temporary name, verifies it, and only then gives it its own.
func (b Backup) Run(ctx context.Context) (string, error) {
	if err := b.MakeFolder(spec.EtcdDir); err != nil {
		return "", err
	}
	endpoint, err := b.endpoint()
	if err != nil {
		return "", err
	}
	status, err := StatusOf(ctx, b.Task, endpoint)
	if err != nil {
		return "", fmt.Errorf("etcd at %s does not answer, so there is nothing to take a snapshot of: %w", endpoint, err)
	}
	if err := b.room(status.DBSize); err != nil {
		return "", err
	}
	name := fmt.Sprintf("etcd-%s-%s-%s.db", b.member(), b.mark(), b.Clock.Now().UTC().Format("20060102T150405Z"))
	final, temp := path.Join(spec.EtcdDir, name), path.Join(spec.EtcdDir, ".partial.db")
	if err := errors.Join(b.Disk.Remove(b.Path(temp)), b.Disk.Remove(b.Path(temp+".part"))); err != nil {
		return "", fmt.Errorf("remove an unfinished snapshot: %w", err)
	}
	if _, err := Ctl(ctx, b.Task, endpoint, snapshotDeadline, false, "snapshot", "save", temp); err != nil {
		return "", fmt.Errorf("take an etcd snapshot: %w", err)
	}
	if err := os.Chmod(b.Path(temp), 0o600); err != nil {
		return "", fmt.Errorf("keep the snapshot from other users: %w", err)
	}
	if _, err := b.verify(ctx, temp); err != nil {
		return "", fmt.Errorf("the snapshot just taken is not whole: %w", err)
	}
	if err := errors.Join(b.Disk.Rename(b.Path(temp), b.Path(final)), b.Disk.SyncFolder(b.Path(spec.EtcdDir))); err != nil {
		return "", fmt.Errorf("name the snapshot: %w", err)
	}
	if err := b.prune(); err != nil {
		return "", err
	}
	return b.verify(ctx, final)
}

// endpoint is what the snapshot is taken of: this node's etcd, or another's when this node keeps the copy.
func (b Backup) endpoint() (string, error) {
	if b.Spec.BackupEndpoint != "" {
		return b.Spec.BackupEndpoint, nil
	}
	return LocalEndpoint(b.Task)
}

func (b Backup) member() string {
	switch {
	case b.Spec.BackupEndpoint == "":
		return b.Spec.NodeName
	case b.Spec.BackupOf != "":
		return b.Spec.BackupOf
	default:
		return "other"
	}
}

// mark tells the snapshots of one upgrade from those of others.
func (b Backup) mark() string { return b.Spec.Version + "-" + firstPart(b.Spec.UpgradeUID) }

func firstPart(uid string) string {
	part, _, _ := strings.Cut(uid, "-")
	return part
}

// verify reads the whole snapshot and checks its hash.
func (b Backup) verify(ctx context.Context, file string) (string, error) {
	out, err := b.Task.Run(ctx, host.Command{Program: b.Staged("bin/etcdutl"), Args: []string{"snapshot", "status", file, "-w", "json"},
		Deadline: 2 * time.Minute, Quiet: true})
	if err != nil {
		return "", err
	}
	var s struct {
		Hash      uint32 `json:"hash"`
		Revision  int64  `json:"revision"`
		TotalKey  int    `json:"totalKey"`
		TotalSize int64  `json:"totalSize"`
	}
	if err := json.Unmarshal(out, &s); err != nil {
		return "", fmt.Errorf("etcdutl snapshot status answered something unexpected: %s", out)
	}
	if s.Revision == 0 || s.TotalKey == 0 {
		return "", fmt.Errorf("snapshot %s is empty: revision %d, %d keys", file, s.Revision, s.TotalKey)
	}
	return fmt.Sprintf("snapshot %s: revision %d, %d keys, %d kB, hash %08x", file, s.Revision, s.TotalKey, s.TotalSize>>10, s.Hash), nil
}

func (b Backup) room(size int64) error {
	free, err := b.Free(spec.EtcdDir)
	if err != nil {
		return err
	}
	if want := uint64(size) + uint64(size)/4 + 64<<20; free < want {
		return spec.Refusef("%s has %d MB free, an etcd snapshot needs %d MB: make room there, then retry", spec.EtcdDir, free>>20, want>>20)
	}
	return nil
}

// snapshots are this member's, oldest first. The time is at the end of the name and the modification time decides.
func (b Backup) snapshots() ([]string, error) {
	entries, err := os.ReadDir(b.Path(spec.EtcdDir))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the etcd snapshots: %w", err)
	}
	times := map[string]time.Time{}
	var found []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "etcd-"+b.member()+"-v") || !strings.HasSuffix(e.Name(), ".db") {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, fmt.Errorf("look at snapshot %s: %w", e.Name(), err)
		}
		file := path.Join(spec.EtcdDir, e.Name())
		times[file], found = info.ModTime(), append(found, file)
	}
	sort.Slice(found, func(i, j int) bool { return times[found[i]].Before(times[found[j]]) })
	return found, nil
}

func (b Backup) prune() error {
	snapshots, err := b.snapshots()
	if err != nil {
		return err
	}
	for len(snapshots) > keepSnapshots {
		if err := b.Disk.Remove(b.Path(snapshots[0])); err != nil {
			return fmt.Errorf("remove the oldest etcd snapshot: %w", err)
		}
		b.Log.Say("removed the old snapshot %s", snapshots[0])
		snapshots = snapshots[1:]
	}
	return nil
}
