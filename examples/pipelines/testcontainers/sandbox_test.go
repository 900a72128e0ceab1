// The sandbox by Testcontainers for Go.
package sandbox

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

const key = "test-go"

func start(t *testing.T) string {
	ctx := context.Background()
	container, err := testcontainers.GenericContainer(ctx, testcontainers.GenericContainerRequest{
		ContainerRequest: testcontainers.ContainerRequest{
			Image:        "registry.example/sendbox:1",
			ExposedPorts: []string{"7357/tcp"},
			WaitingFor:   wait.ForHTTP("/_sandbox/health").WithPort("7357/tcp"),
		},
		Started: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := container.Terminate(ctx); err != nil {
			t.Error(err)
		}
	})
	origin, err := container.PortEndpoint(ctx, "7357/tcp", "http")
	if err != nil {
		t.Fatal(err)
	}
	return origin
}

func call(t *testing.T, method, url, body string, into any) {
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("x-api-key", key)
	request.Header.Set("content-type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 400 {
		t.Fatal(method, url, answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}

func TestMessage(t *testing.T) {
	sandbox := start(t)
	world := sandbox + "/_sandbox/worlds/" + key
	var ignored map[string]any
	call(t, "POST", sandbox+"/_sandbox/worlds", `{"id": "`+key+`", "clock": {"mode": "manual"}}`, &ignored)
	call(t, "POST", sandbox+"/v2/message", `{"to": [{"phone_number": "420777000101"}], "body": "Hello"}`, &ignored)
	call(t, "POST", world+"/clock/advance", `{"by": "1m"}`, &ignored)
	var hook struct{ Events []struct{ Result string } }
	call(t, "GET", world+"/hook", "", &hook)
	var results []string
	for _, event := range hook.Events {
		results = append(results, event.Result)
	}
	if got := strings.Join(results, " "); got != "sending sent delivered" {
		t.Fatal(got)
	}
}
