package kubelet

import (
	"errors"
	"fmt"
	"os"
	"regexp"

	"refit.dev/refit/internal/node/task"
)

// retired are the flags that kubeadm gave kubelets, by the minor version whose kubelet does not start with them any more. kubeadm
// takes them out itself at the end of an upgrade to that very minor (its phase post-upgrade), which is too late for a kubelet that is
// started before it, and never where a worker passes that minor over.
var retired = []struct {
	minor uint
	flag  *regexp.Regexp
}{
	{35, regexp.MustCompile(`\s*--pod-infra-container-image(=|\s+)[^\s"']+`)},
}

// DropRetiredFlags takes out of kubeadm's file of flags what the kubelet of the wanted version refuses.
func DropRetiredFlags(t *task.Task) error {
	before, err := os.ReadFile(t.Path(task.KubeletFlags))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the kubelet's flags: %w", err)
	}
	after := before
	for _, r := range retired {
		if task.Minor(t.Spec.Version) >= r.minor {
			after = r.flag.ReplaceAll(after, nil)
		}
	}
	if string(after) == string(before) {
		return nil
	}
	t.Log.Say("taking flags out of %s that the kubelet of %s refuses", task.KubeletFlags, t.Spec.Version)
	return t.Replacer().Content(after, t.Path(task.KubeletFlags), "", 0o644)
}
