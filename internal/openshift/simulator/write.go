package simulator

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// errStale says that somebody else wrote an object after it was read: the next step looks again.
var errStale = errors.New("somebody else wrote first")

// put writes an object's status as it is after, if it was read otherwise. It says whether it wrote.
func (s *Simulator) put(ctx context.Context, before, after client.Object) (bool, error) {
	if equality.Semantic.DeepEqual(before, after) {
		return false, nil
	}
	err := s.client.Status().Update(ctx, after)
	return err == nil, stale(err, "write the status of %T %s", after, after.GetName())
}

// stale tells a write that came too late from one that failed.
func stale(err error, format string, args ...any) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return errStale
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}

// changeVersion changes the status of the ClusterVersion.
func (s *Simulator) changeVersion(ctx context.Context, w *world, change func()) error {
	before := w.version.DeepCopy()
	change()
	wrote, err := s.put(ctx, before, &w.version)
	if wrote {
		s.report(versionChanges(before, &w.version))
	}
	return err
}

func (s *Simulator) report(lines []string) {
	for _, line := range lines {
		s.options.Report(line)
	}
}
