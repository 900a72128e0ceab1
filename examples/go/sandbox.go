// Package sandbox opens a world of the sandbox for a test, and explores tests; README.md shows both. It needs Go 1.19 or newer, and no other
// package. SANDBOX is the origin of a sandbox.
package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Object is an object of JSON.
type Object = map[string]any

// Sandbox is the world of a test. Key is what the client sends as x-api-key.
type Sandbox struct {
	Key string
	t   testing.TB
}

// Origin is the address of the sandbox.
func Origin() string {
	if origin := os.Getenv("SANDBOX"); origin != "" {
		return origin
	}
	return "http://127.0.0.1:7357"
}

// New opens a world with a clock that stands still. It is closed after the test, which shows its story if it failed.
func New(t testing.TB) *Sandbox {
	t.Helper()
	return open(t, fmt.Sprintf("test-%d-%d", os.Getpid(), time.Now().UnixNano()))
}

func open(t testing.TB, key string) *Sandbox {
	s := &Sandbox{key, t}
	control(t, "POST", "/worlds", Object{"id": key, "clock": Object{"mode": "manual"}}, nil)
	t.Cleanup(func() {
		if t.Failed() {
			var report struct {
				Story struct{ Lines []struct{ At, Text string } }
			}
			s.Get("report?lines=40", &report)
			for _, line := range report.Story.Lines {
				t.Logf("%s  %s", line.At, line.Text)
			}
		}
		control(t, "DELETE", "/worlds/"+key, nil, nil)
	})
	return s
}

// Advance moves the clock, by a duration such as 1m.
func (s *Sandbox) Advance(by string) {
	s.t.Helper()
	control(s.t, "POST", "/worlds/"+s.Key+"/clock/advance", Object{"by": by}, nil)
}

// Get reads the world into answer: messages, hook (the built-in receiver), clock, and all else that control has.
func (s *Sandbox) Get(what string, answer any) {
	s.t.Helper()
	control(s.t, "GET", "/worlds/"+s.Key+"/"+what, nil, answer)
}

// Message is a message of the world, as far as most tests look at it.
type Message struct {
	ID                  string `json:"message_id"`
	Phone, Body, Result string
}

// Send sends a message as a client does, with the key of the world.
func (s *Sandbox) Send(body string, numbers ...string) {
	s.t.Helper()
	to := []Object{}
	for _, number := range numbers {
		to = append(to, Object{"phone_number": number})
	}
	call(s.t, s.Key, "POST", "/v2/message", Object{"body": body, "to": to}, nil)
}

// StartValidation sends a code to a phone, as a client does.
func (s *Sandbox) StartValidation(number string) {
	s.t.Helper()
	call(s.t, s.Key, "POST", "/v1/validations", Object{"phoneNumber": number}, nil)
}

// Message returns the newest message to a phone; it waits 5 s for one, and fails the test without one.
func (s *Sandbox) Message(number string) Message {
	s.t.Helper()
	var answer struct{ Messages []Message }
	s.Get("messages?last=1&wait=5s&phone="+url.QueryEscape(number), &answer)
	if len(answer.Messages) == 0 {
		s.t.Fatalf("no message was sent to %s", number)
	}
	return answer.Messages[0]
}

// Codes returns the codes that were sent to a phone, newest first; it waits 5 s for one.
func (s *Sandbox) Codes(number string) []string {
	s.t.Helper()
	var answer struct{ Codes []struct{ Code string } }
	s.Get("codes?wait=5s&phone="+url.QueryEscape(number), &answer)
	codes := []string{}
	for _, code := range answer.Codes {
		codes = append(codes, code.Code)
	}
	return codes
}

// Phone acts as a phone: Phone("420777000101", "reply", Object{"body": "Yes"}).
func (s *Sandbox) Phone(number, act string, body Object) {
	s.t.Helper()
	control(s.t, "POST", "/worlds/"+s.Key+"/phones/"+number+"/"+act, body, nil)
}

func control(t testing.TB, method, path string, body, answer any) {
	t.Helper()
	call(t, "", method, "/_sandbox"+path, body, answer)
}

// call makes a call of the sandbox, with an API key or without one, and reads its answer.
func call(t testing.TB, key, method, path string, body, answer any) {
	t.Helper()
	var content bytes.Buffer
	if body != nil {
		_ = json.NewEncoder(&content).Encode(body)
	}
	request, _ := http.NewRequest(method, Origin()+path, &content)
	request.Header.Set("content-type", "application/json")
	if key != "" {
		request.Header.Set("x-api-key", key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatalf("the sandbox does not answer: %v", err)
	}
	defer response.Body.Close()
	if response.StatusCode >= 400 {
		var refused struct{ Message string }
		_ = json.NewDecoder(response.Body).Decode(&refused)
		if run, ok := t.(*run); ok && !run.ended {
			run.result = "unknown" // an act of the test itself was impossible
			runtime.Goexit()
		}
		t.Fatalf("%s %s: %s", method, path, refused.Message)
	}
	if answer != nil {
		if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
	}
}

// Settings are those of an exploration; without families it has the usual one.
type Settings struct {
	Runs     int      `json:"runs,omitempty"`
	Time     string   `json:"time,omitempty"`
	Families []string `json:"families,omitempty"`
	Keep     []string `json:"keep,omitempty"`
	Test     string   `json:"test"`
}

// Explore runs a test again and again, each time with other misfortunes. It fails if a bug was found; questions are
// logged.
func Explore(t *testing.T, settings Settings, test func(testing.TB, *Sandbox)) {
	t.Helper()
	settings.Test = t.Name()
	if settings.Time == "" {
		settings.Time = "60s"
	}
	var exploration struct {
		ID    string
		Words []string
		Finds []struct {
			Kind, Message string
			Story         []string
			Scenarios     []struct{ Name, Text string }
		}
	}
	control(t, "POST", "/explorations", settings, &exploration)
	path := "/explorations/" + exploration.ID
	defer control(t, "DELETE", path, nil, nil)
	limit := time.Hour // of a run; of all but the first: ten times as long as that took, and five seconds more
	for {
		var next struct {
			Done   bool
			Run    int
			Prefix string
		}
		control(t, "POST", path+"/next", nil, &next)
		if next.Done {
			break
		}
		begun, ended := time.Now(), make(chan *run, 1)
		go func() {
			this := &run{TB: t, result: "passed"}
			this.perform(func() { test(this, open(this, next.Prefix+"1")) })
			ended <- this
		}()
		run := &run{result: "unknown"} // one that takes too long, as a call without a time limit may, says nothing
		select {
		case run = <-ended:
		case <-time.After(limit):
		}
		if next.Run == 1 {
			limit = 5*time.Second + 10*time.Since(begun)
		}
		report := Object{"run": next.Run, "result": run.result, "message": run.message, "assertion": run.place}
		control(t, "POST", path+"/result", report, nil)
		if next.Run == 1 && run.result != "passed" {
			t.Fatalf("%s: %s (%s)\n%s", run.result, run.message, run.place, strings.Join(run.log, "\n"))
		}
	}
	control(t, "GET", path, nil, &exploration)
	for _, find := range exploration.Finds {
		lines := append([]string{find.Kind + ": " + find.Message}, find.Story...)
		for _, scenario := range find.Scenarios {
			file := filepath.Join(".sendbox", "found", scenario.Name)
			_ = os.MkdirAll(filepath.Dir(file), 0o755)
			if err := os.WriteFile(file, []byte(scenario.Text), 0o644); err == nil {
				lines = append(lines, "scenario: "+file)
			}
		}
		if find.Kind == "bug" {
			t.Error(strings.Join(lines, "\n"))
		} else {
			t.Log(strings.Join(lines, "\n"))
		}
	}
	t.Log(strings.Join(exploration.Words, "\n"))
}

// run is one run of a test: what fails in it does not fail the test that is explored.
type run struct {
	testing.TB
	result, message, place string
	log                    []string
	cleanups               []func()
	ended                  bool
}

// perform runs a test to its end, and what it has left to be cleaned up.
func (r *run) perform(test func()) {
	phases := []func(){test}
	for len(phases) > 0 {
		done := make(chan struct{})
		go func() { // a goroutine of its own: FailNow ends it
			defer close(done)
			defer func() {
				if cause := recover(); cause != nil {
					r.fail(fmt.Sprint("panic: ", cause))
				}
			}()
			phases[0]()
		}()
		<-done
		r.ended = true
		phases = nil
		if last := len(r.cleanups) - 1; last >= 0 {
			phases, r.cleanups = r.cleanups[last:], r.cleanups[:last]
		}
	}
}

func (r *run) fail(message string) {
	if r.result == "passed" {
		r.result, r.message = "failed", message
		if _, file, line, ok := runtime.Caller(2); ok {
			r.place = fmt.Sprintf("%s:%d", filepath.Base(file), line)
		}
	}
}

func (r *run) Fail()                             { r.fail("failed") }
func (r *run) FailNow()                          { r.fail("failed"); runtime.Goexit() }
func (r *run) Error(values ...any)               { r.fail(fmt.Sprintln(values...)) }
func (r *run) Errorf(format string, more ...any) { r.fail(fmt.Sprintf(format, more...)) }
func (r *run) Fatal(values ...any)               { r.fail(fmt.Sprintln(values...)); runtime.Goexit() }
func (r *run) Fatalf(format string, more ...any) {
	r.fail(fmt.Sprintf(format, more...))
	runtime.Goexit()
}
func (r *run) Log(values ...any)               { r.log = append(r.log, fmt.Sprintln(values...)) }
func (r *run) Logf(format string, more ...any) { r.log = append(r.log, fmt.Sprintf(format, more...)) }
func (r *run) Skip(...any)                     { r.SkipNow() }
func (r *run) Skipf(string, ...any)            { r.SkipNow() }
func (r *run) SkipNow()                        { r.result = "unknown"; runtime.Goexit() }
func (r *run) Failed() bool                    { return r.result == "failed" }
func (r *run) Skipped() bool                   { return r.result == "unknown" }
func (r *run) Cleanup(done func())             { r.cleanups = append(r.cleanups, done) }
