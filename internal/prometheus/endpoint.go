package prometheus

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"
)

// DefaultTimeout bounds a request to an endpoint that sets no other time.
const DefaultTimeout = 15 * time.Second

// serviceAccount is where a pod finds its account's token and, on OpenShift, the authority of service certificates.
const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount/"

// Endpoint says where a Prometheus, or what speaks its API (Thanos), is asked, and how.
type Endpoint struct {
	// URL is the address, e.g. "https://thanos-querier.openshift-monitoring.svc:9091", with the path that /api/v1 is below, if any.
	URL string
	// CAFile holds the authorities, in PEM, that may have signed the server's certificate. Empty: the machine's own. It is read
	// anew for every request.
	CAFile string
	// TokenFile holds the bearer token. Empty: none is sent. It is read anew for every request, because the tokens of service
	// accounts change within the hour.
	TokenFile string
	// ServerName is the name the server's certificate must be for. Empty: the host of URL.
	ServerName string
	// InsecureSkipVerify takes any certificate: whoever answers gets the token. Not together with CAFile and ServerName.
	InsecureSkipVerify bool
	// Timeout bounds one request, from the connection to the last byte of the answer. 0: DefaultTimeout.
	Timeout time.Duration
}

// OpenShift is where a pod of an OpenShift cluster finds the metrics and alerts of all namespaces. Its service account needs the
// cluster role cluster-monitoring-view.
func OpenShift() Endpoint {
	return Endpoint{
		URL:       "https://thanos-querier.openshift-monitoring.svc:9091",
		CAFile:    serviceAccount + "service-ca.crt",
		TokenFile: serviceAccount + "token",
	}
}

// Validate refuses an endpoint that cannot work, or would give the token away. The error names the field and what to do. Files are
// not read: they may come later.
func (e Endpoint) Validate() error {
	if e.URL == "" {
		return errors.New("URL is empty: give the address of Prometheus, e.g. https://prometheus.monitoring.svc:9090")
	}
	u, err := url.Parse(e.URL)
	if err != nil { // its text repeats the address, and so a password in it
		return errors.New("URL is not an address: want e.g. https://prometheus.monitoring.svc:9090")
	}
	switch {
	case u.User != nil:
		return errors.New("URL holds a user name or password: take it out, and name a file with a bearer token in TokenFile")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return fmt.Errorf("URL %q: want an address that begins with http:// or https:// and names a host", e.URL)
	case u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("URL %q: take away what follows the ? or #, only the path that /api/v1 is below may follow the host", e.URL)
	case u.Scheme == "http" && (e.CAFile != "" || e.ServerName != "" || e.InsecureSkipVerify):
		return fmt.Errorf("URL %q is plain http, which has no certificate: use https://, or leave CAFile, ServerName and InsecureSkipVerify empty", e.URL)
	case u.Scheme == "http" && e.TokenFile != "" && !loopback(u.Hostname()):
		return fmt.Errorf("URL %q is plain http, over which everybody on the way can read the token of TokenFile: use https://, or leave TokenFile empty", e.URL)
	case e.InsecureSkipVerify && (e.CAFile != "" || e.ServerName != ""):
		return errors.New("InsecureSkipVerify takes any certificate, CAFile and ServerName only the right one: choose")
	case e.Timeout < 0:
		return fmt.Errorf("Timeout is %s: want a time above 0, or 0 for %s", e.Timeout, DefaultTimeout)
	}
	return nil
}

// host is the part of the address that messages name.
func (e Endpoint) host() string {
	u, err := url.Parse(e.URL)
	if err != nil {
		return "Prometheus"
	}
	return u.Scheme + "://" + u.Host
}

func loopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
