// Command refit-node runs the steps of a node's upgrade: in the containers of an upgrader Pod, and on the host itself.
package main

import (
	"fmt"
	"os"

	"refit.dev/refit/internal/node/command"
)

func main() {
	code := command.Main(os.Args[1:], os.Stdout, os.Stderr)
	if code != 0 {
		fmt.Fprintf(os.Stderr, "refit-node: ends with code %d\n", code)
	}
	os.Exit(code)
}
