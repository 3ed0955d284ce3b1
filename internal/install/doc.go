// Package install brings Refit into a cluster and takes it out again. What it applies is the Helm chart of charts/refit,
// so that the two ways of installing cannot differ.
package install
