package gate

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/version"
)

// How near an expiry may be. kubeadm renews the certificates of control planes with every upgrade, but not the authorities.
const (
	leafMargin      = 24 * time.Hour
	authorityMargin = 30 * 24 * time.Hour
)

func kubeadm(_ Point, in Input) Verdict {
	if v, bad := unobserved(in.Cluster, snapshot.PartKubeadm); bad {
		return v
	}
	if !in.Cluster.Kubeadm.Found {
		return blocked(nil, "this is not a kubeadm cluster: there is no ConfigMap kube-system/kubeadm-config, and Refit upgrades kubeadm clusters only")
	}
	return ok("a kubeadm cluster, configured for %s", in.Cluster.Kubeadm.KubernetesVersion)
}

// exclusive wants no other upgrade unfinished.
func exclusive(_ Point, in Input) Verdict {
	if other := Other(in.Cluster, in.Upgrade); other != "" {
		return blocked([]string{other}, "upgrade %s is not finished: wait for it, or abort it with `refit abort %s`", other, other)
	}
	return ok("no other upgrade is running")
}

// Other is the unfinished upgrade that has precedence over the one of that name: it was started, or else created, before.
// Empty where there is none.
func Other(c *snapshot.Cluster, name string) string {
	self, first := -1, -1
	for i := range c.Upgrades {
		u := &c.Upgrades[i]
		refused := u.Status.State == v1alpha1.StateUpgradeFailed && u.Status.StartedAt == nil // nothing was done for it
		if u.Name == name {
			self = i
		} else if !u.Finished() && !refused && u.DeletionTimestamp == nil && (first < 0 || before(c, i, first)) {
			first = i
		}
	}
	if first < 0 || self >= 0 && before(c, self, first) {
		return ""
	}
	return c.Upgrades[first].Name
}

// before orders upgrades: the started ones, then the older ones, then by name.
func before(c *snapshot.Cluster, i, j int) bool {
	a, b := &c.Upgrades[i], &c.Upgrades[j]
	if (a.Status.StartedAt == nil) != (b.Status.StartedAt == nil) {
		return a.Status.StartedAt != nil
	}
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return a.Name < b.Name
}

// versions wants a way from what runs to the target, with an image for every hop.
func versions(_ Point, in Input) Verdict {
	hops, err := version.ForCluster(in.Cluster, in.Target)
	var already *version.AlreadyError
	switch {
	case errors.As(err, &already):
		return ok("every node runs %s already", in.Target)
	case err != nil:
		return blocked(nil, "%s", err)
	}
	return ok("%s to %s", version.StartsFrom(in.Cluster, in.Target), strings.Join(hops, " to "))
}

// patches wants a person to see to the patches that versions ask for: nothing in a cluster says which ones its hosts have.
func patches(_ Point, in Input) Verdict {
	var wanted []string
	for _, hop := range in.Hops {
		kv := in.Cluster.Version(hop)
		if kv == nil {
			continue
		}
		if p := kv.Spec.AppliedPatches; len(p) > 0 {
			wanted = append(wanted, fmt.Sprintf("%s applied before %s", strings.Join(p, ", "), hop))
		}
		if p := kv.Spec.AvailablePatches; len(p) > 0 {
			wanted = append(wanted, fmt.Sprintf("%s available, and not applied, before %s", strings.Join(p, ", "), hop))
		}
	}
	if len(wanted) == 0 {
		return ok("the versions ask for no patches")
	}
	return blocked(nil, "the versions want patches: %s. Refit cannot see the patches of hosts: see to them, then exclude this gate", strings.Join(wanted, "; "))
}

func certificates(_ Point, in Input) Verdict {
	c := in.Cluster
	if v, bad := unobserved(c, snapshot.PartCertificates); bad {
		return v
	}
	if len(c.Certificates) == 0 {
		return Verdict{Level: Unknown, Message: "no certificate was seen, so this counts as closed"}
	}
	var bad, objects []string
	next := c.Certificates[0].NotAfter
	for _, cert := range c.Certificates {
		margin, remedy := leafMargin, "renew it with `kubeadm certs renew all` on the node, and restart its control plane"
		if cert.Authority {
			margin, remedy = authorityMargin, "replace the authority first: an upgrade does not renew it"
		}
		if cert.NotAfter.Before(next) {
			next = cert.NotAfter
		}
		if left := cert.NotAfter.Sub(c.Now); left < margin {
			name := strings.TrimPrefix(cert.Node+"/"+cert.Name, "/")
			bad, objects = append(bad, fmt.Sprintf("certificate %s %s (%s): %s", name, expiry(left), cert.NotAfter.UTC().Format(time.DateOnly), remedy)), append(objects, name)
		}
	}
	if len(bad) > 0 {
		return blocked(objects, "%s", strings.Join(bad, "; "))
	}
	return ok("%s, the first to expire on %s", plural(len(c.Certificates), "certificate"), next.UTC().Format(time.DateOnly))
}

func expiry(left time.Duration) string {
	if left <= 0 {
		return "has expired"
	}
	if left < 48*time.Hour {
		return fmt.Sprintf("expires in %d h", int(left.Hours()))
	}
	return fmt.Sprintf("expires in %d days", int(left.Hours()/24))
}

// skew wants legal skews now, and after the step where there is one.
func skew(p Point, in Input) Verdict {
	if v, bad := unobserved(in.Cluster, snapshot.PartControlPlanePods); bad {
		return v
	}
	bad := version.Skew(in.Cluster)
	if p == BeforeControlPlane {
		bad = version.SkewAfter(in.Cluster, in.Node, in.Hop)
	}
	if len(bad) > 0 {
		return blocked(nil, "%s: bring the older ones up first", few(bad))
	}
	return ok("versions are within the supported skew")
}
