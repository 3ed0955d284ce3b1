package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"refit.dev/refit/lab"
)

func newStatus(at *place) *cobra.Command {
	var output string
	c := &cobra.Command{Use: "status", Short: "Show a cluster's hosts and how to reach it", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if output != "" && output != "json" {
				return fmt.Errorf("--output %q: want json, or nothing for a table", output)
			}
			l, err := at.open(c.Context())
			if err != nil {
				return err
			}
			hosts, err := l.Status(c.Context())
			if err != nil {
				return err
			}
			if output == "json" {
				return json.NewEncoder(c.OutOrStdout()).Encode(describe(l, hosts))
			}
			return table(c, l, hosts)
		}}
	c.Flags().StringVarP(&output, "output", "o", "", "json instead of a table")
	return c
}

// description is what status prints as JSON.
type description struct {
	Name        string           `json:"name"`
	Version     string           `json:"version"`
	Kubeconfig  string           `json:"kubeconfig"`
	API         string           `json:"api"`
	Application string           `json:"application"`
	Registry    string           `json:"registry"`
	Hosts       []lab.HostStatus `json:"hosts"`
}

func describe(l *lab.Lab, hosts []lab.HostStatus) description {
	return description{Name: l.Name, Version: l.Version, Kubeconfig: l.Kubeconfig(), API: l.APIAddress(),
		Application: l.ApplicationAddress(), Registry: l.RegistryAddress(), Hosts: hosts}
}

func table(c *cobra.Command, l *lab.Lab, hosts []lab.HostStatus) error {
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "HOST\tROLE\tADDRESS\tPOWER\tNODE\tKUBELET\tCONTAINER")
	for _, h := range hosts {
		fmt.Fprintln(w, strings.Join([]string{h.Name, string(h.Role), h.Address, h.Power, dash(h.Node), dash(h.Kubelet), h.Container}, "\t"))
	}
	fmt.Fprintf(w, "\nlab:\t%s, brought up at %s\nkubeconfig:\t%s\nAPI:\thttps://%s\napplication:\thttp://%s (node port 30080)\nregistry:\thttp://%s\n",
		l.Name, l.Version, l.Kubeconfig(), l.APIAddress(), l.ApplicationAddress(), l.RegistryAddress())
	names, err := lab.Names(c.Context())
	if err != nil {
		return err
	}
	if others := slices.DeleteFunc(names, func(n string) bool { return n == l.Name }); len(others) > 0 {
		fmt.Fprintf(w, "other labs:\t%s\n", strings.Join(others, ", "))
	}
	return w.Flush()
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
