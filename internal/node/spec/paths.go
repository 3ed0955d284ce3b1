package spec

import "path"

// Folders on a node. Each is absolute as the host sees it.
const (
	// StateDir holds journals, logs, snapshots and the state of upgrades.
	StateDir = "/var/lib/refit"
	// ProgramsDir holds the programs: versions/<version>/{bin,cni}, and refit-node itself.
	ProgramsDir = "/opt/refit"
	// EtcdDir holds the etcd snapshots.
	EtcdDir = StateDir + "/etcd"
	// InFlightPath names the step that changes the host now.
	InFlightPath = StateDir + "/in-flight.json"
	// ResumeUnit goes on, at a boot, with the step that a power cut interrupted; ResumeWanted enables it.
	ResumeUnit   = "/etc/systemd/system/refit-resume.service"
	ResumeWanted = "/etc/systemd/system/multi-user.target.wants/refit-resume.service"
)

// JournalPath is the journal of an upgrade, one JSON object a line.
func JournalPath(uid string) string { return path.Join(StateDir, "journal", uid+".jsonl") }

// LogPath is the log of a step.
func LogPath(uid, step string) string { return path.Join(StateDir, "logs", uid, step+".log") }

// UpgradeDir holds the state of an upgrade: its spec, staged and replaced manifests, results.
func UpgradeDir(uid string) string { return path.Join(StateDir, "upgrades", uid) }

// VersionDir holds the programs of a version.
func VersionDir(version string) string { return path.Join(ProgramsDir, "versions", version) }
