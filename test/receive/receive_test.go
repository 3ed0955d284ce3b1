package receive

import (
	"net/http"
	"net/smtp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestWhatIsSentIsKept(t *testing.T) {
	g := NewWithT(t)
	chat, err := Chat("127.0.0.1")
	g.Expect(err).NotTo(HaveOccurred())
	defer chat.Close()
	response, err := http.Post("http://"+chat.Address, "application/json", strings.NewReader(`{"text":"hi"}`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(response.Body.Close()).To(Succeed())
	g.Expect(chat.Messages()).To(Equal([]string{`{"text":"hi"}`}))

	mail, err := Mail("127.0.0.1")
	g.Expect(err).NotTo(HaveOccurred())
	defer mail.Close()
	g.Expect(smtp.SendMail(mail.Address, nil, "a@example.com", []string{"b@example.com"}, []byte("Subject: hi\r\n\r\n.dot\r\n"))).To(Succeed())
	g.Expect(mail.Messages()).To(HaveLen(1))
	g.Expect(mail.Messages()[0]).To(ContainSubstring("\r\n.dot\r\n"))
}
