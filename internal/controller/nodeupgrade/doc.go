// Package nodeupgrade brings one node to a Kubernetes version: it runs the upgrader Pod on the node, follows its steps, and
// starts it again after a failure or a power cut, within limits. What is to happen next is decided by Decide, which is pure;
// the reconciler only reads, writes the status and carries out one action.
package nodeupgrade
