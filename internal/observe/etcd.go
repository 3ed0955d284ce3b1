package observe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"

	"refit.dev/refit/internal/snapshot"
)

const (
	// annotationEtcdURLs is kubeadm's, on etcd's static Pods.
	annotationEtcdURLs = "kubeadm.kubernetes.io/etcd.advertise-client-urls"
	// etcdTimeout bounds every question to one member.
	etcdTimeout = 3 * time.Second
)

var errExternalEtcd = errors.New("etcd does not run as static Pods here, so its members, alarms and the size of its database are not seen: " +
	"see to them (`etcdctl endpoint health --cluster`, `etcdctl alarm list`), then exclude the gate etcd (spec.excludedGates, --exclude-gate etcd)")

// EtcdCertificates is the folder with ca.crt, healthcheck-client.crt and healthcheck-client.key.
type EtcdCertificates string

// config reads the certificates anew, as kubeadm renews them with every upgrade.
func (dir EtcdCertificates) config() (*tls.Config, error) {
	if dir == "" {
		return nil, errors.New("no folder with etcd's certificates is set (--etcd-certs-dir)")
	}
	authority, err := os.ReadFile(filepath.Join(string(dir), "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("read etcd's authority (`refit install` mounts it where etcd runs as static Pods): %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		return nil, fmt.Errorf("%s/ca.crt holds no certificate", dir)
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(string(dir), "healthcheck-client.crt"), filepath.Join(string(dir), "healthcheck-client.key"))
	if err != nil {
		return nil, fmt.Errorf("read etcd's client certificate: %w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool, Certificates: []tls.Certificate{pair}}, nil
}

// etcdURLs are the client URLs of the members that run as static Pods, by node.
func etcdURLs(pods []corev1.Pod) map[string]string {
	urls := map[string]string{}
	for i := range pods {
		p := &pods[i]
		if p.Labels[LabelComponent] == "etcd" && p.Annotations[annotationEtcdURLs] != "" {
			urls[p.Spec.NodeName] = p.Annotations[annotationEtcdURLs]
		}
	}
	return urls
}

// probeEtcd asks every member how it is.
func probeEtcd(ctx context.Context, certificates EtcdCertificates, pods []corev1.Pod) (snapshot.Etcd, error) {
	urls := etcdURLs(pods)
	if len(urls) == 0 {
		return snapshot.Etcd{External: true}, errExternalEtcd
	}
	config, err := certificates.config()
	if err != nil {
		return snapshot.Etcd{}, err
	}
	members, err := listMembers(ctx, config, urls)
	if err != nil {
		return snapshot.Etcd{}, err
	}
	out := snapshot.Etcd{Members: make([]snapshot.Member, len(members))}
	alarms := make([][]snapshot.Alarm, len(members))
	var wg sync.WaitGroup
	for i, m := range members {
		wg.Go(func() { out.Members[i], alarms[i] = probeMember(ctx, config, m) })
	}
	wg.Wait()
	for i := range out.Members {
		out.Members[i].Node = nodeOfMember(&out.Members[i], urls)
	}
	for _, a := range alarms {
		if len(a) > 0 { // every healthy member knows all alarms
			out.Alarms = a
		}
	}
	return out, nil
}

// listMembers asks all members that are known, at the same time; the first answer will do.
func listMembers(ctx context.Context, config *tls.Config, urls map[string]string) ([]*etcdserverpb.Member, error) {
	type answer struct {
		members []*etcdserverpb.Member
		err     error
	}
	ctx, cancel := context.WithTimeout(ctx, etcdTimeout)
	defer cancel()
	answers := make(chan answer, len(urls))
	for node, url := range urls {
		go func() {
			var a answer
			a.err = withEtcd(ctx, config, []string{url}, func(ctx context.Context, c *clientv3.Client) error {
				list, err := c.MemberList(ctx, clientv3.WithSerializable())
				if err != nil {
					return fmt.Errorf("etcd on node %s: %w", node, err)
				}
				a.members = list.Members
				return nil
			})
			answers <- a
		}()
	}
	var errs []error
	for range urls {
		a := <-answers
		if a.err == nil {
			return a.members, nil
		}
		errs = append(errs, a.err)
	}
	return nil, fmt.Errorf("no etcd member answers: %w", errors.Join(errs...))
}

// probeMember asks one member itself. A member that was added but has never started has no URL.
func probeMember(ctx context.Context, config *tls.Config, m *etcdserverpb.Member) (snapshot.Member, []snapshot.Alarm) {
	out := snapshot.Member{ID: strconv.FormatUint(m.ID, 16), Name: m.Name, PeerURLs: m.PeerURLs, ClientURLs: m.ClientURLs, Learner: m.IsLearner}
	if len(m.ClientURLs) == 0 {
		out.Error = "it has never started"
		return out, nil
	}
	var alarms []snapshot.Alarm
	ctx, cancel := context.WithTimeout(ctx, etcdTimeout)
	defer cancel()
	err := withEtcd(ctx, config, m.ClientURLs, func(ctx context.Context, c *clientv3.Client) error {
		s, err := c.Status(ctx, m.ClientURLs[0])
		if err != nil {
			return err
		}
		out.Version, out.SizeBytes, out.QuotaBytes, out.Leader = s.Version, s.DbSize, s.DbSizeQuota, s.Leader == m.ID
		if _, err := c.Get(ctx, "health"); err != nil { // a read that needs the quorum
			return fmt.Errorf("it cannot read with quorum: %w", err)
		}
		list, err := c.AlarmList(ctx)
		if err != nil {
			return fmt.Errorf("list alarms: %w", err)
		}
		for _, a := range list.Alarms {
			alarms = append(alarms, snapshot.Alarm{MemberID: strconv.FormatUint(a.MemberID, 16), Type: a.Alarm.String()})
		}
		return nil
	})
	if out.Healthy = err == nil; err != nil {
		out.Error = err.Error()
	}
	return out, alarms
}

func withEtcd(ctx context.Context, config *tls.Config, urls []string, do func(context.Context, *clientv3.Client) error) error {
	c, err := clientv3.New(clientv3.Config{Context: ctx, Endpoints: urls, TLS: config, DialTimeout: etcdTimeout, Logger: zap.NewNop()})
	if err != nil {
		return fmt.Errorf("dial etcd at %s: %w", urls, err)
	}
	err = do(ctx, c)
	return errors.Join(err, ignoreCanceled(c.Close()))
}

func ignoreCanceled(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// nodeOfMember finds the node by the URL that its static Pod advertises, or by kubeadm's way of naming members after nodes.
func nodeOfMember(m *snapshot.Member, urls map[string]string) string {
	for node, url := range urls {
		if slices.Contains(m.ClientURLs, url) {
			return node
		}
	}
	if _, ok := urls[m.Name]; ok {
		return m.Name
	}
	return ""
}
