// Package bundle makes and reads the image that brings one Kubernetes version to a node: its programs, those of its
// container runtime, refit-node that installs them, and a manifest that says what they are.
package bundle
