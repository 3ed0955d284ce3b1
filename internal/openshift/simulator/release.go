package simulator

import (
	"crypto/sha256"
	"fmt"
	"slices"

	configv1 "github.com/openshift/api/config/v1"
	utilversion "k8s.io/apimachinery/pkg/util/version"
)

// Image is the image of a release that was given none: a digest made from the version, the same one every time.
func Image(version string) string {
	return fmt.Sprintf("quay.io/openshift-release-dev/ocp-release@sha256:%x", sha256.Sum256([]byte(version)))
}

// fill gives a release what it lacks.
func fill(r *configv1.Release) error {
	if _, err := utilversion.ParseSemantic(r.Version); err != nil {
		return fmt.Errorf("the version of a release: %w", err)
	}
	if r.Image == "" {
		r.Image = Image(r.Version)
	}
	return nil
}

// above says that a is a higher version than b. What is no version is above nothing.
func above(a, b string) bool {
	parsed, errA := utilversion.ParseSemantic(a)
	other, errB := utilversion.ParseSemantic(b)
	return errA == nil && errB == nil && other.LessThan(parsed)
}

// names says that a desired update names a release: a field that is left out names any.
func names(u *configv1.Update, r configv1.Release) bool {
	return (u.Version == "" || u.Version == r.Version) && (u.Image == "" || u.Image == r.Image)
}

// find gives the release of a list that a desired update names.
func find(u *configv1.Update, releases []configv1.Release) (configv1.Release, bool) {
	i := slices.IndexFunc(releases, func(r configv1.Release) bool { return names(u, r) })
	if i < 0 {
		return configv1.Release{}, false
	}
	return releases[i], true
}

// inChannel says that a release is offered in a channel.
func inChannel(r configv1.Release, channel string) bool {
	return len(r.Channels) == 0 || slices.Contains(r.Channels, channel)
}
