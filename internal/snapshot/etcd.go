package snapshot

// Etcd is the store of the cluster.
type Etcd struct {
	// External says that etcd does not run as static pods of the control planes, so that upgrading one takes no member down.
	External bool
	// Members as the cluster lists them, learners included.
	Members []Member
	// Alarms that are raised.
	Alarms []Alarm
}

// Member is one member of the etcd cluster.
type Member struct {
	// ID in hexadecimal, as etcdctl prints it.
	ID   string
	Name string
	// Node that it runs on, empty where that is not known or outside the cluster.
	Node                 string
	PeerURLs, ClientURLs []string
	// Healthy says that the member itself answered and could read with quorum.
	Healthy bool
	Learner bool
	Leader  bool
	// Version as the member reports it, e.g. 3.6.6.
	Version string
	// SizeBytes of its database, and QuotaBytes that it may grow to; 0 where not known.
	SizeBytes, QuotaBytes int64
	// Error says why the member is not Healthy.
	Error string
}

// Alarm is one that etcd raised.
type Alarm struct {
	MemberID string
	// Type is NOSPACE or CORRUPT.
	Type string
}

// Voters counts the members that vote, and those of them that are healthy.
func (e *Etcd) Voters() (all, healthy int) {
	for _, m := range e.Members {
		if m.Learner {
			continue
		}
		all++
		if m.Healthy {
			healthy++
		}
	}
	return all, healthy
}

// Quorum is the number of voters that must agree, of that many.
func Quorum(voters int) int { return voters/2 + 1 }

// MemberOn is the member that runs on the node, nil where there is none.
func (e *Etcd) MemberOn(node string) *Member {
	for i := range e.Members {
		if e.Members[i].Node == node && node != "" {
			return &e.Members[i]
		}
	}
	return nil
}
