// Package e2e proves, on real clusters of the lab, that Refit upgrades them in place: the main job with clients that must
// notice nothing, a single node, and the faults that it survives. Each test brings up its own cluster and removes it.
package e2e
