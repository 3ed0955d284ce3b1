// Package spec is what the manager and refit-node agree on: what a node is to become, the steps in their order, and how a
// step's process ends. It imports nothing heavy, so that both sides can use it.
package spec

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"refit.dev/refit/api/v1alpha1"
)

// Environment variables of an upgrader container.
const (
	// EnvSpec holds the Spec as JSON.
	EnvSpec = "REFIT_NODE_SPEC"
	// EnvNodeName holds the name of the node that the Pod runs on, from the downward API.
	EnvNodeName = "NODE_NAME"
)

// Spec is what is to become of one node. Every container of an upgrader Pod gets it as JSON in EnvSpec.
type Spec struct {
	// UpgradeUID is the UID of the NodeUpgrade. The journal on the node is named after it.
	UpgradeUID string `json:"upgradeUID"`
	// UpgradeName is the name of the NodeUpgrade, for messages.
	UpgradeName string `json:"upgradeName,omitempty"`
	// NodeName is the name of the Node.
	NodeName string `json:"nodeName"`
	// NodeUID is the UID of the Node; another node of the same name is refused.
	NodeUID string `json:"nodeUID,omitempty"`
	// Version to bring the node to, e.g. v1.36.3.
	Version string `json:"version"`
	// FromVersion is the kubelet's version when the upgrade began.
	FromVersion string `json:"fromVersion,omitempty"`
	// NodeType is the role of the node.
	NodeType v1alpha1.NodeType `json:"nodeType"`
	// First says that this is the first control plane: it runs `kubeadm upgrade apply`, the others `kubeadm upgrade node`.
	First bool `json:"first,omitempty"`
	// Image is the upgrader image, by digest, for the record.
	Image string `json:"image,omitempty"`
	// Drain says how pods are moved away.
	Drain Drain `json:"drain"`
	// DrainNode is the manager's decision that the node is to be drained: the change is intrusive, and pods have another node
	// to go to.
	DrainNode bool `json:"drainNode,omitempty"`
	// DrainReason says, in words, why the node is or is not drained.
	DrainReason string `json:"drainReason,omitempty"`
	// Attempt counts the upgrader Pods of this NodeUpgrade, from 1. A retry that a person asked for is another attempt.
	Attempt int `json:"attempt"`
	// BackupEndpoint is another control plane's etcd (https://10.0.0.12:2379). Only step backup-etcd reads it: the snapshot is
	// then taken from there and kept on this node, which makes it the copy off that node.
	BackupEndpoint string `json:"backupEndpoint,omitempty"`
	// BackupOf is the name of the node that BackupEndpoint is on, for the file's name.
	BackupOf string `json:"backupOf,omitempty"`
}

// Drain is a DrainPolicy with its defaults filled in.
type Drain struct {
	// Mode is Auto, Always or Never.
	Mode v1alpha1.DrainMode `json:"mode,omitempty"`
	// Timeout bounds the whole drain. Default 10m.
	Timeout Duration `json:"timeout,omitempty"`
	// GracePeriodSeconds replaces the pods' own grace period where it is longer. Default: the pods' own.
	GracePeriodSeconds *int64 `json:"gracePeriodSeconds,omitempty"`
	// OnTimeout is Fail, Skip or Force.
	OnTimeout v1alpha1.DrainTimeoutAction `json:"onTimeout,omitempty"`
}

// DefaultDrainTimeout bounds a drain whose policy names no time.
const DefaultDrainTimeout = 10 * time.Minute

// DrainFrom fills in the defaults of a policy; nil is the default policy.
func DrainFrom(policy *v1alpha1.DrainPolicy) Drain {
	d := Drain{Mode: v1alpha1.DrainAuto, Timeout: Duration(DefaultDrainTimeout), OnTimeout: v1alpha1.DrainFail}
	if policy == nil {
		return d
	}
	if policy.Mode != "" {
		d.Mode = policy.Mode
	}
	if policy.Timeout != nil && policy.Timeout.Duration > 0 {
		d.Timeout = Duration(policy.Timeout.Duration)
	}
	if policy.OnTimeout != "" {
		d.OnTimeout = policy.OnTimeout
	}
	d.GracePeriodSeconds = policy.GracePeriodSeconds
	return d
}

// Duration is a time.Duration that JSON spells as "10m0s".
type Duration time.Duration

// MarshalJSON spells the duration as a string.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("a duration is a string such as \"10m\": %w", err)
	}
	v, err := time.ParseDuration(s)
	*d = Duration(v)
	return err
}

var (
	uidPattern     = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z-]{0,62}$`)
	namePattern    = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)
	versionPattern = regexp.MustCompile(`^v1\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)
)

// Validate says whether the node side can act on the spec. Its names become file and unit names, so it is strict.
func (s *Spec) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(uidPattern.MatchString(s.UpgradeUID), "upgradeUID %q is not a UID", s.UpgradeUID)
	check(namePattern.MatchString(s.NodeName), "nodeName %q is not a node's name", s.NodeName)
	check(s.BackupOf == "" || namePattern.MatchString(s.BackupOf), "backupOf %q is not a node's name", s.BackupOf)
	check(versionPattern.MatchString(s.Version), "version %q is not like v1.36.3", s.Version)
	check(s.FromVersion == "" || versionPattern.MatchString(s.FromVersion), "fromVersion %q is not like v1.36.3", s.FromVersion)
	check(s.NodeType == v1alpha1.NodeTypeControlPlane || s.NodeType == v1alpha1.NodeTypeWorker,
		"nodeType %q is neither ControlPlane nor Worker", s.NodeType)
	return errors.Join(errs...)
}

// ControlPlane says whether the node is a control plane.
func (s *Spec) ControlPlane() bool { return s.NodeType == v1alpha1.NodeTypeControlPlane }

// Encode is the JSON for EnvSpec.
func (s *Spec) Encode() (string, error) {
	b, err := json.Marshal(s)
	return string(b), err
}

// Parse reads and validates what Encode wrote.
func Parse(encoded string) (Spec, error) {
	var s Spec
	if err := json.Unmarshal([]byte(encoded), &s); err != nil {
		return s, fmt.Errorf("the node's spec is not JSON of the expected form: %w", err)
	}
	if err := s.Validate(); err != nil {
		return s, fmt.Errorf("the node's spec is not valid: %w", err)
	}
	return s, nil
}
