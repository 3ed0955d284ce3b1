package simulator

import (
	"context"
	"slices"
	"time"

	configv1 "github.com/openshift/api/config/v1"
)

// operand is the name under which an operator gives its own version.
const operand = "operator"

// turn is the work on the operator that takes a new version now.
type turn struct {
	operator, target string
	done             time.Duration
}

// stepOperators brings the operators to the wanted version, one after another, and has each say how it is.
func (s *Simulator) stepOperators(ctx context.Context, w *world) error {
	if s.rendered == "" {
		s.rendered = w.versionOf(MachineConfig)
	}
	w.rendered = s.rendered
	finished, next := s.advance(w)
	for _, name := range w.options.Operators {
		o := w.operators[name]
		before := o.DeepCopy()
		if name == finished {
			setVersion(&o.Status, w.version.Status.Desired.Version)
		}
		w.operatorStatus(o, name == next)
		if wrote, err := s.put(ctx, before, o); err != nil {
			return err
		} else if wrote {
			s.report(operatorChanges(before, o))
		}
	}
	if finished != "" {
		s.turn = turn{operator: next, target: w.version.Status.Desired.Version}
	}
	return nil
}

// advance works on the operator whose turn it is. It gives the one that has finished, if any, and the one that works now. The turn of the
// finished one ends when that has been written.
func (s *Simulator) advance(w *world) (finished, working string) {
	if !w.updating() {
		s.turn = turn{}
		return "", ""
	}
	at, target := w.next(), w.version.Status.Desired.Version
	if at == "" {
		return "", ""
	}
	if s.turn.operator != at || s.turn.target != target {
		s.turn = turn{operator: at, target: target}
		return "", at
	}
	if w.blocked(at) {
		return "", at
	}
	s.turn.done += w.work
	if s.turn.done < w.options.OperatorTime {
		return "", at
	}
	if at == MachineConfig {
		s.rendered, w.rendered = target, target
		if !w.masterHas(target) {
			return "", at
		}
		return at, ""
	}
	return at, w.firstOf(w.options.Operators[slices.Index(w.options.Operators, at)+1:])
}

// next is the operator that has to take the wanted version next; none when all have it.
func (w *world) next() string { return w.firstOf(w.options.Operators) }

func (w *world) firstOf(operators []string) string {
	target := w.version.Status.Desired.Version
	for _, name := range operators {
		if w.versionOf(name) != target || name == MachineConfig && w.rendered != target {
			return name
		}
	}
	return ""
}

// blocked says that an update cannot get past an operator: it, or one before it, is not well.
func (w *world) blocked(at string) bool {
	for _, name := range w.options.Operators {
		if _, troubled := w.troubles[name]; troubled {
			return true
		}
		if name == at {
			return false
		}
	}
	return false
}

func (w *world) versionOf(operator string) string {
	for _, v := range w.operators[operator].Status.Versions {
		if v.Name == operand {
			return v.Version
		}
	}
	return ""
}

func setVersion(status *configv1.ClusterOperatorStatus, version string) {
	i := slices.IndexFunc(status.Versions, func(v configv1.OperandVersion) bool { return v.Name == operand })
	if i < 0 {
		status.Versions = append(status.Versions, configv1.OperandVersion{Name: operand, Version: version})
		return
	}
	status.Versions[i].Version = version
}

// operatorStatus has an operator say how it is.
func (w *world) operatorStatus(o *configv1.ClusterOperator, working bool) {
	c := conditions{list: &o.Status.Conditions, now: w.now}
	t, troubled := w.troubles[o.Name]
	if troubled && t.unavailable {
		c.set(configv1.OperatorAvailable, false, t.reason, t.message)
	} else {
		c.set(configv1.OperatorAvailable, true, "AsExpected", "All is well")
	}
	if working {
		c.set(configv1.OperatorProgressing, true, "Upgrading", "Working towards "+w.version.Status.Desired.Version)
	} else {
		c.set(configv1.OperatorProgressing, false, "AsExpected", "Cluster operator is at version "+w.versionOf(o.Name))
	}
	if troubled && !t.unavailable {
		c.set(configv1.OperatorDegraded, true, t.reason, t.message)
	} else {
		c.set(configv1.OperatorDegraded, false, "AsExpected", "All is well")
	}
	c.set(configv1.OperatorUpgradeable, true, "AsExpected", "All is well")
}
