// Package wayback says how a cluster comes back to an earlier version: what Refit undoes by itself, which etcd snapshots it took, and the
// commands that restore one. It only writes; it decides nothing.
package wayback

import "refit.dev/refit/api/v1alpha1"

// Undone says whether Refit puts back what a step changed, where the step fails.
type Undone string

// What becomes of a step's change.
const (
	Yes     Undone = "yes"
	Partly  Undone = "partly"
	No      Undone = "no"
	Nothing Undone = "nothing to undo"
)

// StepUndo says what becomes of one step of a node.
type StepUndo struct {
	Step   v1alpha1.StepName `json:"step"`
	Undone Undone            `json:"undone"`
	// Failure is what Refit does where the step fails, Back what the step does on the way to an earlier patch release.
	Failure string `json:"failure"`
	Back    string `json:"back"`
}

// Steps are the steps of a control plane in their order; a worker has all but backup-etcd. A test holds them against internal/node.
var Steps = []StepUndo{
	{v1alpha1.StepPreflight, Nothing, "it changes nothing", "checks anew"},
	{v1alpha1.StepCopyBinaries, Nothing, "the programs lie beside the old ones, unused", "brings the older programs, where they are gone"},
	{v1alpha1.StepPullImages, Nothing, "images are there, unused", "pulls the older images, where they are gone"},
	{v1alpha1.StepBackupEtcd, Nothing, "it adds a snapshot", "takes another snapshot; nothing is restored"},
	{v1alpha1.StepContainerd, Yes, "one that does not come up is put back; one that did stays, whatever fails later", "brings the older bundle's, where it differs"},
	{v1alpha1.StepCNIPlugins, No, "the new plugins stay", "brings the older bundle's, where they differ"},
	{v1alpha1.StepDrain, Partly, "the node is uncordoned; Pods stay where they went", "as for an upgrade"},
	{v1alpha1.StepKubeadm, Partly, "static Pods, and the kubelet replaced with them, are put back; kubeadm stays new, and an etcd that serves",
		"brings the older kubeadm and static Pods; a newer etcd stays"},
	{v1alpha1.StepKubelet, Yes, "the old kubelet is put back", "brings the older kubelet and kubectl"},
	{v1alpha1.StepVerify, Nothing, "it changes nothing", "waits for the older version"},
	{v1alpha1.StepUncordon, Nothing, "it is tried again", "as for an upgrade"},
	{v1alpha1.StepCleanup, No, "what is removed is gone", "as for an upgrade"},
}
