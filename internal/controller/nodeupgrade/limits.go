package nodeupgrade

import "time"

// Limits bound everything that a NodeUpgrade waits for or tries again.
type Limits struct {
	// Attempts is how many upgrader Pods may fail.
	Attempts int32
	// Interruptions is how many upgrader Pods may be cut off.
	Interruptions int32
	// ImagePull is how long the upgrader image may fail to be pulled.
	ImagePull time.Duration
	// PodStart is how long a Pod may take until its first container runs.
	PodStart time.Duration
	// SandboxGone is how long a Pod that has begun may be without a sandbox: a kubelet that restarts may say so for a moment.
	SandboxGone time.Duration
	// EtcdCopy is how long the copy of etcd may take.
	EtcdCopy time.Duration
	// NodeLost is how long the node may be silent.
	NodeLost time.Duration
	// Settle is how long the node may take to show the new version after its last step.
	Settle time.Duration
	// Wait is how long a node whose turn has come may wait for something outside it, such as a healthy control plane to keep
	// the copy of etcd.
	Wait time.Duration
	// Deletion is how long the deletion of a NodeUpgrade, or its abort, waits for the step under way.
	Deletion time.Duration
	// Slack is added to the sum of the steps' own deadlines, after which a Pod counts as stuck.
	Slack time.Duration
	// FailureBackoff is the first pause after a failure; it doubles.
	FailureBackoff time.Duration
	// InterruptionBackoff is the first pause after an interruption; it doubles.
	InterruptionBackoff time.Duration
	// MaxBackoff bounds both.
	MaxBackoff time.Duration
}

// DefaultLimits are the limits of the product.
func DefaultLimits() Limits {
	return Limits{
		Attempts:            3,
		Interruptions:       10,
		ImagePull:           5 * time.Minute,
		PodStart:            20 * time.Minute,
		SandboxGone:         30 * time.Second,
		EtcdCopy:            15 * time.Minute,
		NodeLost:            20 * time.Minute,
		Settle:              5 * time.Minute,
		Wait:                30 * time.Minute,
		Deletion:            25 * time.Minute,
		Slack:               15 * time.Minute,
		FailureBackoff:      10 * time.Second,
		InterruptionBackoff: time.Second,
		MaxBackoff:          time.Minute,
	}
}

// backoff doubles from the first pause with every repetition, up to the longest.
func (l Limits) backoff(first time.Duration, n int32) time.Duration {
	d := first
	for ; n > 1 && d < l.MaxBackoff; n-- {
		d *= 2
	}
	return min(d, l.MaxBackoff)
}
