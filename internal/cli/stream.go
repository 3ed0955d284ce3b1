package cli

import (
	"bytes"
	"io"

	"refit.dev/refit/internal/cli/feed"
	"refit.dev/refit/internal/cli/print"
	"refit.dev/refit/internal/cli/view"
)

// streamed is one of the objects that --watch writes for programs.
type streamed struct {
	name  string
	value any
}

// upgradeObject is what `refit status --watch` writes.
func upgradeObject(seen feed.Seen, upgrade string) []streamed {
	u := seen.Upgrade(upgrade)
	if u == nil {
		return nil
	}
	return []streamed{{u.Name, withKind(u)}}
}

// nodeObjects are what `refit nodes --watch` writes: a row for each node, as `refit nodes -o json` lists them.
func nodeObjects(seen feed.Seen, _ string) []streamed {
	var all []streamed
	for _, row := range view.Rows(seen.Nodes, seen.NodeUpgrades) {
		all = append(all, streamed{row.Node, row})
	}
	return all
}

// stream writes objects, each when it is first seen and whenever it is another than before.
type stream struct {
	w       io.Writer
	output  print.Format
	written map[string][]byte
}

func newStream(w io.Writer, output print.Format) *stream {
	return &stream{w: w, output: output, written: map[string][]byte{}}
}

func (s *stream) write(objects []streamed) error {
	for _, object := range objects {
		var text bytes.Buffer
		if err := s.output.Next(&text, object.value); err != nil {
			return err
		}
		if bytes.Equal(text.Bytes(), s.written[object.name]) {
			continue
		}
		s.written[object.name] = text.Bytes()
		if err := print.All(s.w, text.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
