package nodeupgrade

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/spec"
)

// Decision is what follows from an Observation.
type Decision struct {
	// Status to write, before the action is taken.
	Status v1alpha1.NodeUpgradeStatus
	// Action to take, nil for none.
	Action Action
	// RequeueAfter is when to look again though nothing changes; 0 for never.
	RequeueAfter time.Duration
}

// Action is the one thing that a reconcile does besides writing the status.
type Action interface{ isAction() }

// CreatePod creates the Pod of a role.
type CreatePod struct {
	Role Role
	Spec spec.Spec
}

// DeletePod deletes a Pod, which lets the step under way end.
type DeletePod struct {
	Name string
	UID  types.UID
}

// Uncordon lifts the cordon that this NodeUpgrade set.
type Uncordon struct{}

// AddFinalizer puts the finalizer on, before anything is taken.
type AddFinalizer struct{}

// RemoveFinalizer lets the object go, after everything is given back.
type RemoveFinalizer struct{}

func (CreatePod) isAction()       {}
func (DeletePod) isAction()       {}
func (Uncordon) isAction()        {}
func (AddFinalizer) isAction()    {}
func (RemoveFinalizer) isAction() {}
