{{- define "type" -}}
{{- $type := . -}}
{{- if markdownShouldRenderType $type }}
{{ if $type.GVK }}##{{ else }}###{{ end }} {{ $type.Name }}

{{ $type.Doc }}
{{ if $type.References }}
Appears in: {{ range $i, $r := $type.SortedReferences }}{{ if $i }}, {{ end }}{{ markdownRenderTypeLink $r }}{{ end }}.
{{ end }}
{{- if $type.Members }}
| Field | Description | Default | Checked |
| --- | --- | --- | --- |
{{ range $type.Members -}}
| `{{ .Name }}` _{{ markdownRenderType .Type }}_ | {{ template "type_members" . }} | {{ with .Default }}{{ markdownRenderDefault . }}{{ end }} | {{ range .Validation }}{{ if not (or (eq . "Optional: {}") (eq . "XIntOrString: {}")) }}{{ markdownRenderFieldDoc . }}<br />{{ end }}{{ end }} |
{{ end -}}
{{ end -}}
{{- if $type.EnumValues }}
| Value | Meaning |
| --- | --- |
{{ range $type.EnumValues -}}
| `{{ .Name }}` | {{ markdownRenderFieldDoc .Doc }} |
{{ end -}}
{{ end -}}
{{- end -}}
{{- end -}}
