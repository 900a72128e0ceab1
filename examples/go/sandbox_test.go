package sandbox

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

const jana = "420777000101"

var order = map[string]int{"sending": 1, "sent": 2, "undelivered": 3, "delivered": 4, "seen": 5}

// client keeps the furthest result of a message, whatever comes first, twice, or together.
type client struct {
	mutex sync.Mutex
	state string
}

func (c *client) ServeHTTP(_ http.ResponseWriter, request *http.Request) {
	var events []struct{ Result string }
	_ = json.NewDecoder(request.Body).Decode(&events)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, event := range events {
		if order[event.Result] > order[c.state] {
			c.state = event.Result
		}
	}
}

func send(t testing.TB, s *Sandbox, callback string) {
	message := Object{"to": []Object{{"phone_number": jana}}, "body": "Hello"}
	if callback != "" {
		message["callback"] = callback
	}
	body, _ := json.Marshal(message)
	request, _ := http.NewRequest("POST", Origin()+"/v2/message", bytes.NewReader(body))
	request.Header.Set("x-api-key", s.Key)
	request.Header.Set("content-type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil || response.StatusCode != 200 {
		t.Fatalf("the message was not taken: %v", err)
	}
	response.Body.Close()
}

func TestWorld(t *testing.T) {
	s := New(t)
	send(t, s, "")
	s.Advance("1m")
	s.Phone(jana, "reply", Object{"body": "Thanks"})
	var hook struct{ Events []Object }
	s.Get("hook", &hook)
	if len(hook.Events) != 3 {
		t.Errorf("%d webhooks came", len(hook.Events))
	}
}

func TestExplored(t *testing.T) {
	Explore(t, Settings{Runs: 30, Families: []string{"delivery"}}, func(t testing.TB, s *Sandbox) {
		c := &client{}
		receiver := httptest.NewServer(c)
		defer receiver.Close()
		send(t, s, receiver.URL)
		s.Advance("1m")
		if c.state != "delivered" {
			t.Fatalf("the message is %s", c.state)
		}
	})
}
