#!/usr/bin/env bash
# A small client with curl, and what a test does with it. SANDBOX is the origin of a sandbox, KEY an API key.
# For https with a certificate of the sandbox's own, name its file in CURL_CA_BUNDLE.
set -euo pipefail
origin=${SANDBOX:-http://127.0.0.1:7357}
key=${KEY:-test-shell}
phone=420777000101

call() { # METHOD PATH [BODY]: prints the answer, and its status on a line of its own
  curl -sS -X "$1" "$origin$2" -H "x-api-key: $key" -H 'content-type: application/json' ${3:+-d "$3"} -w '\n%{http_code}'
}
status() { tail -n 1 <<<"$1"; }
texts() { grep -o "\"$2\":\"[^\"]*\"" <<<"$1" | cut -d '"' -f 4 || true; } # ANSWER FIELD: every text of that name
text() { texts "$@" | head -n 1; }

# The client: what an application calls.
send() { call POST /v2/message "{\"body\": \"$2\", \"to\": [${1:+{\"phone_number\": \"$1\"\}}]}"; }
start_validation() { call POST /v1/validations "{\"phoneNumber\": \"$1\"}"; }
verify() { call POST "/v1/validations/$1/verify" "{\"code\": \"$2\"}"; }

# The test: it opens a world, moves its clock, and looks at what came.
world=/_sandbox/worlds/$key
call POST /_sandbox/worlds "{\"id\": \"$key\", \"clock\": {\"mode\": \"manual\"}}" >/dev/null

sent=$(send $phone 'Hello from a shell')
id=$(text "$sent" message_id)
echo "send: $(status "$sent"), $(texts "$sent" message_id | wc -l | tr -d ' ') accepted"
call POST "$world/clock/advance" '{"by": "1m"}' >/dev/null
hook=$(call GET "$world/hook")
echo "webhooks: $(texts "${hook%%\"deliveries\"*}" result | paste -sd ' ')"
echo "status: $(text "$(call GET "/v1/message?id=$id")" status_info)"

echo "without a recipient: $(status "$(send '' Hello)")"

token=$(text "$(start_validation $phone)" token)
code=$(text "$(call GET "$world/codes?phone=$phone")" code)
wrong=000000
[ "$code" != 000000 ] || wrong=000001
answer=$(verify "$token" $wrong)
echo "wrong code: $(status "$answer") $(text "$answer" error)"
answer=$(verify "$token" "$code")
echo "right code: $(status "$answer") $(text "$answer" phoneNumber)"

call DELETE "$world" >/dev/null
