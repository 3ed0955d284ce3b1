{{- define "gvList" -}}
# Kinds

Made from `api/` by `make generate`; change the comments there. `kubectl explain` shows the same.
{{ range . }}
{{ template "gvDetails" . }}
{{- end }}
{{- end -}}
