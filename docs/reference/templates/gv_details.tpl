{{- define "gvDetails" -}}
{{- $gv := . }}
Group and version `{{ $gv.GroupVersionString }}`:
{{ range $gv.SortedKinds }}
- {{ $gv.TypeForKind . | markdownRenderTypeLink }}
{{- end }}
{{ range $gv.SortedKinds }}
{{- template "type" ($gv.TypeForKind .) }}
{{- end }}
## The types in them
{{ range $gv.SortedTypes }}
{{- if not .GVK }}
{{- template "type" . }}
{{- end }}
{{- end }}
{{- end -}}
