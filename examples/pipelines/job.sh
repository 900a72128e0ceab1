#!/bin/sh
# Stands for the tests of a client. SANDBOX is the origin of the sandbox, KEY the key of the job's world, and RECEIVER the
# address that gets the webhooks; without it, the receiver of the world gets them.
set -eu

call() {
  path=$1
  shift
  curl -fsS "$SANDBOX$path" -H "x-api-key: $KEY" -H 'content-type: application/json' "$@"
}

call "/_sandbox/worlds/$KEY" -X PUT -d '{"clock": {"mode": "manual"}}' >/dev/null
callback=${RECEIVER:+", \"callback\": \"$RECEIVER\""}
call /v2/message -d "{\"to\": [{\"phone_number\": \"420777000101\"}], \"body\": \"Hello\"$callback}"
call "/_sandbox/worlds/$KEY/clock/advance" -d '{"by": "1m"}' >/dev/null
call "/_sandbox/worlds/$KEY/messages" | grep -q '"result":"delivered"'
if [ -n "${RECEIVER:-}" ]; then
  call "/_sandbox/worlds/$KEY/deliveries?last=1" | grep -q '"state":"delivered"' || {
    echo "the last webhook did not reach $RECEIVER" >&2
    exit 1
  }
fi
