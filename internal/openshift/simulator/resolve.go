package simulator

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"

	configv1 "github.com/openshift/api/config/v1"
)

// target is a release that may be applied.
type target struct {
	release  configv1.Release
	verified bool
	risks    string
}

// refusal is why a desired update does not start.
type refusal struct {
	reason, message string
	// invalid is what is wrong with the spec, if it is.
	invalid string
}

// resolve finds what a desired update means. Without force it must be available, or the release that was completed last, back to which
// a cluster may go. With force it may be any release that there is, and any version of an image that there is not.
func (w *world) resolve(want *configv1.Update) (target, *refusal) {
	status := &w.version.Status
	if r, found := find(want, status.AvailableUpdates); found {
		return target{release: r, verified: true}, nil
	}
	if r, found := lastCompleted(status.History); found && names(want, r) {
		return target{release: r, verified: true}, nil
	}
	known, found := find(want, w.known)
	switch {
	case !found && want.Image == "":
		return target{}, unavailable(want.Version)
	case !found:
		return w.unknownImage(want)
	case want.Force:
		risks := "The target release " + known.Version + " is not a recommended update; it was forced."
		return target{release: known, verified: true, risks: risks}, nil
	case want.Image == "":
		return target{}, unavailable(want.Version)
	case above(status.Desired.Version, known.Version):
		return target{}, &refusal{reason: "PreconditionChecks", message: fmt.Sprintf("Preconditions failed for payload loaded version=%q image=%q: "+
			"Precondition \"ClusterVersionRollback\" failed because of \"LowDesiredVersion\": %s is less than the current target %s, "+
			"and the only supported rollback is to the cluster's previous version",
			known.Version, known.Image, known.Version, status.Desired.Version)}
	}
	return target{}, unretrievable(known.Version, known.Image, "the release is not among the available updates")
}

// unknownImage is for an image that no release has: its version is what the update says, as there is nobody to ask.
func (w *world) unknownImage(want *configv1.Update) (target, *refusal) {
	for _, r := range w.known {
		if r.Image == want.Image {
			return target{}, &refusal{reason: "VerifyPayloadVersion", message: fmt.Sprintf(
				"Verifying payload failed version=%q image=%q failure=release image version %s does not match "+
					"the expected upstream version %s", want.Version, want.Image, r.Version, want.Version)}
		}
	}
	if want.Version == "" {
		return target{}, unretrievable("", want.Image, "the image holds no release metadata")
	}
	if !want.Force {
		return target{}, unretrievable(want.Version, want.Image,
			"The update cannot be verified: unable to verify the image against keyrings: verifier-public-key-redhat")
	}
	risks := fmt.Sprintf("Target release version=%q image=%q cannot be verified, but continuing anyway because the update was forced.",
		want.Version, want.Image)
	return target{release: configv1.Release{Version: want.Version, Image: want.Image}, risks: risks}, nil
}

func unavailable(version string) *refusal {
	const why = "when image is empty the update must be a previous version or an available update"
	r := unretrievable(version, "", why)
	r.invalid = fmt.Sprintf("spec.desiredUpdate.version: Invalid value: %q: %s", version, why)
	return r
}

func unretrievable(version, image, why string) *refusal {
	return &refusal{reason: "RetrievePayload", message: fmt.Sprintf("Retrieving payload failed version=%q image=%q failure=%s", version, image, why)}
}

// lastCompleted is the newest release of the history that the cluster was at.
func lastCompleted(history []configv1.UpdateHistory) (configv1.Release, bool) {
	for _, h := range history {
		if h.State == configv1.CompletedUpdate {
			return configv1.Release{Version: h.Version, Image: h.Image}, true
		}
	}
	return configv1.Release{}, false
}

// versionHash is a fingerprint of a release.
func versionHash(r configv1.Release) string {
	sum := sha256.Sum256([]byte(r.Image))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}
