// Command refit-manager runs Refit's controllers inside the cluster that they upgrade.
package main

import (
	"flag"
	"fmt"
	"log/slog"
	"os"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"refit.dev/refit/internal/buildinfo"
	"refit.dev/refit/internal/manager"
)

func main() {
	var o manager.Options
	o.Bind(flag.CommandLine)
	version := flag.Bool("version", false, "print the version and end")
	flag.Parse()
	if *version {
		fmt.Println(buildinfo.Version)
		return
	}
	ctrl.SetLogger(logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, nil)))
	if err := manager.Run(ctrl.SetupSignalHandler(), o); err != nil {
		ctrl.Log.Error(err, "the manager ended")
		os.Exit(1)
	}
}
