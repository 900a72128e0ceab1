// A small client in Go 1.19 or newer, and what a test does with it. SANDBOX is the origin of a sandbox, KEY an API key.
// For https with a certificate of the sandbox's own, name its file in SSL_CERT_FILE.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
)

var (
	origin = setting("SANDBOX", "http://127.0.0.1:7357")
	key    = setting("KEY", "test-go")
)

const phone = "420777000101"

type object = map[string]any

func setting(name, usual string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return usual
}

// call makes a request; what the answer holds goes into answer, and its status is returned.
func call(method, path string, body, answer any) int {
	var content bytes.Buffer
	if body != nil {
		must(json.NewEncoder(&content).Encode(body))
	}
	request, err := http.NewRequest(method, origin+path, &content)
	must(err)
	request.Header.Set("x-api-key", key)
	request.Header.Set("content-type", "application/json")
	response, err := http.DefaultClient.Do(request)
	must(err)
	defer response.Body.Close()
	if answer != nil {
		must(json.NewDecoder(response.Body).Decode(answer))
	}
	return response.StatusCode
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// The client: what an application calls.

type sent struct {
	Accepted []struct {
		MessageID string `json:"message_id"`
	}
}

func send(to []string, body string) (sent, int) {
	recipients := []object{}
	for _, number := range to {
		recipients = append(recipients, object{"phone_number": number})
	}
	var answer sent
	status := call("POST", "/v2/message", object{"body": body, "to": recipients}, &answer)
	return answer, status
}

type validation struct{ Token, Error, PhoneNumber string }

func startValidation(number string) (answer validation) {
	call("POST", "/v1/validations", object{"phoneNumber": number}, &answer)
	return
}

func verify(token, code string) (answer validation, status int) {
	status = call("POST", "/v1/validations/"+token+"/verify", object{"code": code}, &answer)
	return
}

// The test: it opens a world, moves its clock, and looks at what came.
func main() {
	world := "/_sandbox/worlds/" + key
	call("POST", "/_sandbox/worlds", object{"id": key, "clock": object{"mode": "manual"}}, nil)

	message, status := send([]string{phone}, "Hello from Go")
	fmt.Printf("send: %d, %d accepted\n", status, len(message.Accepted))
	call("POST", world+"/clock/advance", object{"by": "1m"}, nil)
	var hook struct{ Events []struct{ Result string } }
	call("GET", world+"/hook", nil, &hook)
	results := []string{}
	for _, event := range hook.Events {
		results = append(results, event.Result)
	}
	fmt.Println("webhooks:", strings.Join(results, " "))
	var shown struct {
		Message struct {
			StatusInfo string `json:"status_info"`
		}
	}
	call("GET", "/v1/message?id="+message.Accepted[0].MessageID, nil, &shown)
	fmt.Println("status:", shown.Message.StatusInfo)

	_, status = send(nil, "Hello")
	fmt.Println("without a recipient:", status)

	token := startValidation(phone).Token
	var kept struct{ Codes []struct{ Code string } }
	call("GET", world+"/codes?phone="+phone, nil, &kept)
	code, wrong := kept.Codes[0].Code, "000000"
	if code == wrong {
		wrong = "000001"
	}
	answer, status := verify(token, wrong)
	fmt.Println("wrong code:", status, answer.Error)
	answer, status = verify(token, code)
	fmt.Println("right code:", status, answer.PhoneNumber)

	call("DELETE", world, nil, nil)
}
