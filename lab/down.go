package lab

import (
	"context"
	"errors"
	"fmt"
	"os"

	"refit.dev/refit/lab/engine"
)

// Down removes the lab.
func (l *Lab) Down(ctx context.Context) error {
	return errors.Join(remove(ctx, l.Name), removeFiles(l.dir))
}

// Down removes whatever there is of the lab of this name, however it got there, and says whether there was anything.
func Down(ctx context.Context, name, dir string) (bool, error) {
	o, err := Options{Name: name, Dir: dir}.complete()
	if err != nil {
		return false, err
	}
	found, err := anything(ctx, o.Name)
	if err != nil {
		return false, err
	}
	return found, errors.Join(remove(ctx, o.Name), removeFiles(folder(o.Dir, o.Name)))
}

// listings are Docker's commands to list what a lab is made of, and to remove it, in the order of removal.
var listings = []struct{ list, remove []string }{
	{[]string{"ps", "--all", "--quiet"}, []string{"rm", "--force", "--volumes"}},
	{[]string{"volume", "ls", "--quiet"}, []string{"volume", "rm", "--force"}},
	{[]string{"network", "ls", "--quiet"}, []string{"network", "rm"}},
}

func anything(ctx context.Context, name string) (bool, error) {
	for _, kind := range listings {
		ids, err := objects(ctx, name, kind.list...)
		if err != nil || len(ids) > 0 {
			return len(ids) > 0, err
		}
	}
	return false, nil
}

func remove(ctx context.Context, name string) error {
	var errs []error
	for _, kind := range listings {
		ids, err := objects(ctx, name, kind.list...)
		if err == nil && len(ids) > 0 {
			_, err = engine.Output(ctx, append(kind.remove, ids...)...)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("remove lab %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// removeFiles removes the lab's files, and its folder where nothing else is in it.
func removeFiles(dir string) error {
	if err := os.Remove(dir + "/kubeconfig"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the lab's kubeconfig: %w", err)
	}
	// A folder with other labs in it stays; that is no error.
	_ = os.Remove(dir)
	return nil
}
