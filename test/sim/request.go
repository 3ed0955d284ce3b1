package main

import (
	"net/http"
	"net/url"
	"strings"
)

// request is a sort of request.
type request struct{ Verb, Resource string }

// writes says whether the request changes something.
func (q request) writes() bool {
	switch q.Verb {
	case "create", "update", "patch", "delete":
		return true
	}
	return false
}

// classify sorts a request as the API server does: by verb and resource, with its subresource.
func classify(method string, u *url.URL) request {
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		parts = parts[3:]
	default:
		return request{Verb: strings.ToLower(method), Resource: "(discovery and others)"}
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	q := request{Verb: verbOf(method), Resource: parts[0]}
	if len(parts) > 2 {
		q.Resource += "/" + parts[2]
	}
	if q.Verb == "get" && len(parts) == 1 {
		q.Verb = "list"
		if w := u.Query().Get("watch"); w == "true" || w == "1" {
			q.Verb = "watch"
		}
	}
	return q
}

func verbOf(method string) string {
	switch method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	}
	return strings.ToLower(method)
}
