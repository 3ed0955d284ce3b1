// Package chart is Refit's Helm chart, for `refit install`, which applies the very same manifests. The templates are made
// from config/ by `go generate`: change them there.
package chart

import "embed"

//go:generate go run ./generate

// Files are Chart.yaml, values.yaml and the templates.
//
//go:embed Chart.yaml values.yaml templates
var Files embed.FS
