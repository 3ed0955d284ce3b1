{{- define "type_members" -}}
{{- if eq .Name "metadata" -}}
as of every Kubernetes object
{{- else -}}
{{ markdownRenderFieldDoc .Doc }}
{{- end -}}
{{- end -}}
