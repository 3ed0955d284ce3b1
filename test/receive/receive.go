// Package receive is what hooks of a test send to: a webhook of a chat, and a mail server.
package receive

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// timeout bounds one message.
const timeout = 30 * time.Second

// largest is the most that one message may hold.
const largest = 1 << 20

// Box keeps what was received, in order.
type Box struct {
	// Address is host:port.
	Address string

	mu       sync.Mutex
	messages []string
	close    func() error
}

// Messages are those received until now.
func (b *Box) Messages() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.messages...)
}

// Close ends it.
func (b *Box) Close() error { return b.close() }

func (b *Box) keep(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.messages = append(b.messages, text)
}

// Chat takes what is posted to it, at a free port of the address.
func Chat(at string) (*Box, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(at, "0"))
	if err != nil {
		return nil, fmt.Errorf("listen for a webhook: %w", err)
	}
	b := &Box{Address: l.Addr().String()}
	server := &http.Server{ReadTimeout: timeout, WriteTimeout: timeout, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, largest))
		if err != nil || r.Method != http.MethodPost {
			http.Error(w, "post a message", http.StatusBadRequest)
			return
		}
		b.keep(string(body))
	})}
	b.close = server.Close
	go func() { _ = server.Serve(l) }() // it ends with Close
	return b, nil
}

// Mail takes what is sent to it by SMTP (RFC 5321), at a free port of the address.
func Mail(at string) (*Box, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(at, "0"))
	if err != nil {
		return nil, fmt.Errorf("listen for mail: %w", err)
	}
	b := &Box{Address: l.Addr().String(), close: l.Close}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // it was closed
			}
			go func() {
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(timeout))
				_ = b.converse(c) // a sender that does not keep to the protocol sends no mail
			}()
		}
	}()
	return b, nil
}

// converse answers one sender.
func (b *Box) converse(c net.Conn) error {
	in := bufio.NewReader(io.LimitReader(c, largest))
	say := func(text string) error { _, err := io.WriteString(c, text+"\r\n"); return err }
	if err := say("220 test"); err != nil {
		return err
	}
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		verb, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		answer := "250 ok"
		switch strings.ToUpper(verb) {
		case "DATA":
			if err := b.data(in, say); err != nil {
				return err
			}
		case "QUIT":
			return say("221 bye")
		case "":
			return errors.New("an empty line is no command")
		}
		if err := say(answer); err != nil {
			return err
		}
	}
}

func (b *Box) data(in *bufio.Reader, say func(string) error) error {
	if err := say("354 go on"); err != nil {
		return err
	}
	var mail strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		if line == ".\r\n" {
			b.keep(mail.String())
			return nil
		}
		mail.WriteString(strings.TrimPrefix(line, "."))
	}
}
