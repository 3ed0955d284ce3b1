package parts

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// installPackages installs the Debian packages that the builds need and this machine lacks.
func installPackages(ctx context.Context, w io.Writer, parts []Part) error {
	if _, err := exec.LookPath("dpkg-query"); err != nil {
		return nil // no Debian: whoever runs it installs the compilers, and a build names the one that is missing
	}
	var missing []string
	for _, p := range parts {
		for _, name := range p.Packages {
			if !slices.Contains(missing, name) && !installed(ctx, name) {
				missing = append(missing, name)
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("building the lab's parts needs these packages, and only root can install them; run: "+
			"sudo apt-get install %s", strings.Join(missing, " "))
	}
	fmt.Fprintf(w, "Installing %s\n", strings.Join(missing, ", "))
	for _, args := range [][]string{{"update"}, append([]string{"install", "-y", "--no-install-recommends"}, missing...)} {
		c := command{name: "apt-get", args: args, env: []string{"DEBIAN_FRONTEND=noninteractive"}}
		if err := runLogged(ctx, c, io.Discard); err != nil {
			return err
		}
	}
	return nil
}

// installed asks dpkg for a package's state.
func installed(ctx context.Context, name string) bool {
	out, err := exec.CommandContext(ctx, "dpkg-query", "-W", "-f=${db:Status-Status}", name).Output()
	return err == nil && string(out) == "installed"
}
