package preflight

import (
	"context"
	"syscall"

	"refit.dev/refit/internal/node/controlplane"
	"refit.dev/refit/internal/node/cri"
	"refit.dev/refit/internal/node/etcd"
	"refit.dev/refit/internal/node/images"
	"refit.dev/refit/internal/node/replace"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/node/task"
)

const (
	// spare is left free on each file system on top of what is known to be needed.
	spare = 200 << 20
	// imageRoom is what the images of a version take at most, unpacked.
	imageRoom = 1 << 30
	megabyte  = 1 << 20
)

// disk: room for the programs, their second copies in place, the snapshot and kubeadm's backup of etcd, and the images.
func (p Preflight) disk(ctx context.Context) ([]Finding, error) {
	var programs uint64
	for _, f := range p.Bundle.Files {
		staged := p.Staged(f.Path)
		if sum, err := replace.Sum(p.Path(staged)); err != nil {
			return nil, err
		} else if sum != f.SHA256 {
			programs += uint64(f.Size)
		}
	}
	need := map[string]uint64{spec.ProgramsDir: programs, "/usr/bin": programs}
	if p.Spec.ControlPlane() {
		size, err := p.Size(etcd.DataDir)
		if err != nil {
			return nil, err
		}
		need[spec.StateDir] = 2 * size
		need["/etc/kubernetes"] = size
	}
	missing, err := p.imagesMissing(ctx)
	if err != nil {
		return nil, err
	}
	if missing {
		need["/var/lib/containerd"] = imageRoom
	}
	return p.room(need)
}

// room adds up the needs of folders that share a file system, and compares them with what is free there.
func (p Preflight) room(need map[string]uint64) ([]Finding, error) {
	type system struct {
		folders    []string
		need, free uint64
	}
	systems := map[uint64]*system{}
	for folder, bytes := range need {
		id, err := p.FileSystem(folder)
		if err != nil {
			return nil, err
		}
		free, err := p.Free(folder)
		if err != nil {
			return nil, err
		}
		if systems[id] == nil {
			systems[id] = &system{free: free, need: spare}
		}
		systems[id].folders = append(systems[id].folders, folder)
		systems[id].need += bytes
	}
	var findings []Finding
	for _, s := range systems {
		if s.free < s.need {
			findings = append(findings, refuse("the file system of %v has %d MB free, the upgrade needs %d MB: make room there",
				s.folders, s.free/megabyte, s.need/megabyte))
		}
	}
	return findings, nil
}

// imagesMissing says whether step pull-images will have something to pull, by the names that it pulls by.
func (p Preflight) imagesMissing(ctx context.Context) (missing bool, err error) {
	cluster, err := controlplane.ClusterConfiguration(ctx, p.Task)
	if err != nil {
		return false, err
	}
	wanted, err := images.Names(p.Task, cluster)
	if err != nil {
		return false, err
	}
	return missing, p.WithCRI(func(c *cri.Client) error {
		for _, image := range wanted {
			has, err := c.HasImage(ctx, image)
			if err != nil {
				return err
			}
			missing = missing || !has
		}
		return nil
	})
}

// cgroup2 is the type of a file system of cgroup v2.
const cgroup2 = 0x63677270

// cgroups: a kubelet from 1.35 on does not start on cgroup v1 unless it is told to, and both sides must use the same driver.
func (p Preflight) cgroups(ctx context.Context) ([]Finding, error) {
	var findings []Finding
	kubelet, err := p.Kubelet()
	if err != nil {
		return nil, err
	}
	var s syscall.Statfs_t
	if err := syscall.Statfs(p.Path("/sys/fs/cgroup"), &s); err != nil {
		return nil, err
	}
	if s.Type != cgroup2 && task.Minor(p.Spec.Version) >= 35 && (kubelet.FailCgroupV1 == nil || *kubelet.FailCgroupV1) {
		findings = append(findings, refuse("this host uses cgroup v1, on which kubelet %s does not start: boot with "+
			"systemd.unified_cgroup_hierarchy=1, or set failCgroupV1: false in /var/lib/kubelet/config.yaml and in ConfigMap "+
			"kube-system/kubelet-config", p.Spec.Version))
	}
	err = p.WithCRI(func(c *cri.Client) error {
		driver, err := c.CgroupDriver(ctx)
		if err != nil {
			p.Log.Say("the container runtime does not tell its cgroup driver: %v", err)
			return nil
		}
		if driver != kubelet.CgroupDriver {
			findings = append(findings, refuse("the kubelet uses cgroup driver %s, containerd uses %s: pods will not start; "+
				"make them the same", kubelet.CgroupDriver, driver))
		}
		return nil
	})
	return findings, err
}

// runtime: Kubernetes from 1.36 on needs containerd 2.
func (p Preflight) runtime(ctx context.Context) ([]Finding, error) {
	var findings []Finding
	err := p.WithCRI(func(c *cri.Client) error {
		name, version, err := c.Version(ctx)
		if err != nil {
			return err
		}
		if name != "containerd" {
			findings = append(findings, refuse("the container runtime is %s, Refit upgrades nodes with containerd", name))
			return nil
		}
		to := p.Bundle.Component("containerd")
		if to == "" {
			to = version
		}
		if task.Major(to) < 2 && task.Minor(p.Spec.Version) >= 36 {
			findings = append(findings, refuse("Kubernetes %s needs containerd 2, the node would run %s: use a bundle that holds it",
				p.Spec.Version, to))
		}
		if task.Older(to, version) && task.Major(to) < task.Major(version) {
			findings = append(findings, refuse("the node runs containerd %s, the bundle holds the older %s", version, to))
		}
		return nil
	})
	return findings, err
}
