package maintenance

import (
	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

// Target is what a job upgrades, as it was seen.
type Target struct {
	Kind v1beta1.TargetKind
	// Problem is why it could not be seen, empty where it was. Nothing but time passes then.
	Problem string
	// HeldBy names, as namespace/name, the job that has locked it. Empty where none has.
	HeldBy string
	// HolderEnded says that the job that has locked it has ended or is gone.
	HolderEnded bool
	// Available are the versions that can be installed now.
	Available []configv1.Release
	// Requested says that the target was told to bring the job's version; Completed that it runs.
	Requested, Completed bool
	// Failed is why the target will not get there by itself, empty while it may.
	Failed string
	// Busy is what else is being installed, empty where nothing is.
	Busy string
	// Progress says in words where the target stands.
	Progress string
	// Driven says that the job's order is under way, so that it has to be halted when the job ends.
	Driven bool
	// Pools are the machine config pools, by name.
	Pools []Pool
}

// Pool is a machine config pool.
type Pool struct {
	Name   string
	Labels map[string]string
	Paused bool
	// PausedBy names, as namespace/name, the job that paused it. Empty where a person did.
	PausedBy string
	// Updated says that every machine has the configuration that the pool should have.
	Updated bool
	// Progress says in words where its machines stand.
	Progress string
}

// Latest is the highest of the versions; nil where there is none. What is no version is passed over.
func Latest(available []configv1.Release) *configv1.Release {
	var latest *configv1.Release
	var highest *version.Version
	for i := range available {
		v, err := version.ParseSemantic(available[i].Version)
		if err == nil && (highest == nil || highest.LessThan(v)) {
			latest, highest = &available[i], v
		}
	}
	return latest
}

// offers says whether the wanted version is among those available.
func offers(available []configv1.Release, want *configv1.Update) bool {
	for _, r := range available {
		if (want.Version == "" || r.Version == want.Version) && (want.Image == "" || r.Image == want.Image) {
			return true
		}
	}
	return false
}
