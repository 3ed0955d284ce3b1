package prometheus

import (
	"fmt"
	"os"
	"strings"
)

// secret is a bearer token, or empty. It never gets into a message: not by being printed, and not by a server that repeats it.
type secret struct{ token string }

// readSecret reads the token; no file, no token.
func readSecret(file string) (secret, error) {
	if file == "" {
		return secret{}, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return secret{}, fmt.Errorf("read the token that Prometheus wants (TokenFile: want a file that holds a service account's token): %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return secret{}, fmt.Errorf("TokenFile %s is empty: want a file that holds a service account's token", file)
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return secret{}, fmt.Errorf("TokenFile %s holds something other than one token: want a single line without spaces", file)
	}
	return secret{token: token}, nil
}

// String keeps the token out of logs.
func (s secret) String() string { return "[token]" }

// GoString keeps the token out of logs.
func (s secret) GoString() string { return s.String() }

// hide takes the token out of a server's text.
func (s secret) hide(text string) string {
	if s.token == "" {
		return text
	}
	return strings.ReplaceAll(text, s.token, s.String())
}
