package oci

import (
	"fmt"
	"regexp"
	"strconv"
)

var (
	fullVersion  = regexp.MustCompile(`^v1\.([0-9]+)\.[0-9]+(-[0-9A-Za-z.-]+)?$`)
	minorVersion = regexp.MustCompile(`^v1\.[0-9]+$`)
)

// defaultUpgradeFrom are the minors that kubeadm of the version upgrades from: its own and the one before.
func defaultUpgradeFrom(version string) ([]string, error) {
	match := fullVersion.FindStringSubmatch(version)
	if match == nil {
		return nil, versionError(version)
	}
	minor, err := strconv.Atoi(match[1])
	if err != nil {
		return nil, fmt.Errorf("read version %s: %w", version, err)
	}
	if minor == 0 {
		return []string{"v1.0"}, nil
	}
	return []string{fmt.Sprintf("v1.%d", minor-1), fmt.Sprintf("v1.%d", minor)}, nil
}

// checkPaths refuses what a KubernetesVersion would not accept.
func checkPaths(version string, upgradeFrom, downgradeTo []string) error {
	for _, v := range upgradeFrom {
		if v == version {
			return fmt.Errorf("upgrade-from names %s itself: remove it", v)
		}
		if !fullVersion.MatchString(v) && !minorVersion.MatchString(v) {
			return fmt.Errorf("upgrade-from %q is neither a version (v1.35.4) nor a minor (v1.35)", v)
		}
	}
	for _, v := range downgradeTo {
		if !fullVersion.MatchString(v) {
			return versionError(v)
		}
		if minorOf(v) != minorOf(version) {
			return fmt.Errorf("downgrade-to %s: Kubernetes does not support going back a minor; only patch versions of %s are allowed", v, minorOf(version))
		}
	}
	return nil
}

func versionError(version string) error {
	return fmt.Errorf("%q is not a Kubernetes version like v1.36.3", version)
}
