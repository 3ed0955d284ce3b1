// Package loadbalancer writes the configuration of HAProxy in front of a lab's API servers.
package loadbalancer

import (
	_ "embed"
	"fmt"
	"net/netip"
	"strings"
	"text/template"
)

// Ports where it listens, in its container.
const (
	// Port is the API's.
	Port = 6443
	// ApplicationPort is the applications'; behind it is NodePort of every node.
	ApplicationPort = 8080
	// NodePort is the port of the service that the applications' entrance leads to.
	NodePort = 30080
)

// Server is one machine behind it.
type Server struct {
	Name    string
	Address netip.Addr
}

//go:embed haproxy.cfg
var text string

var page = template.Must(template.New("haproxy.cfg").Parse(text))

// Config renders the configuration. Where there is another API server to go to, one failed check is enough to look
// there; a lone one is given up after three, because there is nowhere else.
func Config(apiServers, nodes []Server) (string, error) {
	fall := 1
	if len(apiServers) == 1 {
		fall = 3
	}
	var out strings.Builder
	err := page.Execute(&out, struct {
		Fall           int
		Servers, Nodes []Server
		NodePort       int
	}{fall, apiServers, nodes, NodePort})
	if err != nil {
		return "", fmt.Errorf("render HAProxy's configuration: %w", err)
	}
	return out.String(), nil
}
