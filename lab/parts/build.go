package parts

import (
	"context"
	"io"

	"golang.org/x/sync/errgroup"
)

// atOnce is how many parts are built side by side: while one links on one core, another compiles on the rest.
const atOnce = 2

// Build makes the parts that are not there yet, in the given order, and shows on w what it is doing and what is left.
// On an error it stops the rest, and leaves nothing half-built.
func (s *Store) Build(ctx context.Context, w io.Writer, wanted ...Part) error {
	var missing []Part
	seen := map[string]bool{}
	for _, p := range wanted {
		if !s.Has(p) && !seen[p.folder()] {
			missing = append(missing, p)
			seen[p.folder()] = true
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if err := installPackages(ctx, w, missing); err != nil {
		return err
	}
	show := newProgress(w, missing)
	defer show.close()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, p := range missing {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			show.started(p)
			err := s.make(ctx, p, func(note string) { show.note(p, note) })
			show.ended(p, err)
			return err
		})
	}
	return group.Wait()
}
