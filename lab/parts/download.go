package parts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// OfficialMirror is where the Kubernetes project publishes its builds.
const OfficialMirror = "https://dl.k8s.io"

// NoMirror is the URL that means: download nothing, build everything.
const NoMirror = "none"

// mirrorFromEnvironment is what REFIT_MIRROR says: a URL, none, or by default the official one.
func mirrorFromEnvironment() string {
	switch url := os.Getenv("REFIT_MIRROR"); url {
	case "":
		return OfficialMirror
	case NoMirror:
		return ""
	default:
		return url
	}
}

// UseMirror makes the store download Kubernetes' own builds from below a URL, laid out as https://dl.k8s.io is:
// URL/release/v1.36.3/bin/linux/amd64/kubeadm, and kubeadm.sha256 beside it. NoMirror turns downloads off. What cannot
// be downloaded is built.
func (s *Store) UseMirror(url string) error {
	if url == NoMirror {
		s.mirror = ""
		return nil
	}
	if !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") {
		return fmt.Errorf("--mirror %q: want an address that begins with http:// or https://, or %s to build everything", url, NoMirror)
	}
	s.mirror = strings.TrimSuffix(url, "/")
	return nil
}

// kubernetesDownload is the folder of a version's programs below a mirror.
func kubernetesDownload(version string) string {
	return "release/" + version + "/bin/linux/" + runtime.GOARCH
}

// downloadOrBuild fetches the part's official build where there is one, and builds it where that does not work out:
// no network, not published, or not what its checksum says.
func (s *Store) downloadOrBuild(ctx context.Context, p Part, j *job, log io.Writer) error {
	if s.mirror != "" && p.official != "" {
		err := s.download(ctx, p, j)
		if err == nil || ctx.Err() != nil {
			return err
		}
		fmt.Fprintf(log, "building, because the download failed: %v\n", err)
		j.note("no download, building")
	}
	return p.recipe.build(ctx, j)
}

// Deadlines of a download. A machine without internet must notice soon; a slow line gets its time.
const (
	connectDeadline  = 4 * time.Second
	answerDeadline   = 15 * time.Second
	downloadDeadline = 20 * time.Minute
)

func (s *Store) download(ctx context.Context, p Part, j *job) error {
	ctx, cancel := context.WithTimeout(ctx, downloadDeadline)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, ResponseHeaderTimeout: answerDeadline,
		DialContext: (&net.Dialer{Timeout: connectDeadline}).DialContext, TLSHandshakeTimeout: answerDeadline}}
	defer client.CloseIdleConnections()
	for i, file := range p.Files {
		j.note(fmt.Sprintf("downloading %s, %d of %d", file, i+1, len(p.Files)))
		if err := fetch(ctx, client, s.mirror+"/"+p.official+"/"+file, filepath.Join(j.dir, file)); err != nil {
			return err
		}
	}
	return nil
}

// fetch downloads one program and compares it with the checksum published beside it.
func fetch(ctx context.Context, client *http.Client, url, target string) (err error) {
	var published strings.Builder
	if err := get(ctx, client, url+".sha256", &published); err != nil {
		return err
	}
	wanted, _, _ := strings.Cut(strings.TrimSpace(published.String()), " ")
	out, err := os.OpenFile(target, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	sum := sha256.New()
	if err := get(ctx, client, url, io.MultiWriter(out, sum)); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != wanted {
		return fmt.Errorf("%s has the checksum %s, and %s.sha256 says %s", url, got, url, wanted)
	}
	return nil
}

func get(ctx context.Context, client *http.Client, url string, w io.Writer) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, response.Status)
	}
	if _, err := io.Copy(w, response.Body); err != nil {
		return fmt.Errorf("download %s: %w", url, err)
	}
	return nil
}
