package prometheus

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
)

// strangeError is an answer that does not come from Prometheus's API: from a proxy before it, or from something else.
type strangeError struct {
	status int
	// text is the beginning of the answer.
	text string
}

func (e *strangeError) Error() string {
	if e.text == "" {
		return fmt.Sprintf("HTTP status %d", e.status)
	}
	return fmt.Sprintf("HTTP status %d: %s", e.status, e.text)
}

// wordsError is a query whose result is text, not numbers.
type wordsError struct{}

func (wordsError) Error() string { return "its result is a string" }

// envelope is what every answer of the API is wrapped in.
type envelope struct {
	Status string
	Data   struct {
		ResultType model.ValueType
	}
	ErrorType v1.ErrorType
	Error     string
}

// judge finds what is wrong with an answer.
func judge(status int, body []byte, token secret) error {
	var e envelope
	known := json.Unmarshal(body, &e) == nil
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
	case known && e.Status == "error":
		return &v1.Error{Type: e.ErrorType, Msg: token.hide(e.Error)}
	case known && e.Status == "success" && status/100 == 2:
		switch e.Data.ResultType {
		case model.ValVector, model.ValMatrix, model.ValScalar:
			return nil
		case model.ValString:
			return wordsError{}
		}
	}
	return &strangeError{status: status, text: beginning(token.hide(string(body)))}
}

// beginning is the first line of a text, shortened to what fits into a message.
func beginning(text string) string {
	const most = 300
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "..."
	}
	return strings.ToValidUTF8(strings.TrimSpace(text), "?")
}
