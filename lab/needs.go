package lab

import (
	"refit.dev/refit/lab/host"
	"refit.dev/refit/lab/parts"
	"refit.dev/refit/lab/registry"
)

// DemoTarget is the Kubernetes version that the demo upgrades to.
const DemoTarget = "v1.36.3"

// ClusterParts are the parts that Up needs for these options.
func ClusterParts(o Options) ([]parts.Part, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	return o.parts(), nil
}

// DemoParts are the parts of a cluster at DefaultVersion, of the images and the bundle of DemoTarget, and of the web
// application: those that take long come first.
func DemoParts() []parts.Part {
	return Options{Version: DefaultVersion, Containerd: DefaultContainerd, Publish: []string{DemoTarget}}.upgradeParts()
}

// UpgradeParts are the parts that Up needs for these options, those of the bundles of what it publishes, and of the web application.
func UpgradeParts(o Options) ([]parts.Part, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	return o.upgradeParts(), nil
}

// upgradeParts are those of complete options, which have a release for each version.
func (o Options) upgradeParts() []parts.Part {
	all := o.parts()
	for _, v := range o.Publish {
		if release, err := parts.ReleaseOf(v); err == nil {
			all = append(all, parts.Bundle(release)...)
		}
	}
	return append(all, parts.WebApp())
}

func (o Options) system() host.System {
	return host.System{Version: o.Version, Containerd: o.Containerd}
}

func (o Options) parts() []parts.Part {
	return append(o.system().Parts(), imageParts(append([]string{o.Version}, o.Publish...))...)
}

// imageParts are the parts of the images of some versions.
func imageParts(versions []string) []parts.Part {
	var all []parts.Part
	for _, v := range versions {
		if release, err := parts.ReleaseOf(v); err == nil {
			all = append(all, registry.Parts(release)...)
		}
	}
	return all
}
