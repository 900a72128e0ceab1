"""A correct client unlike the shop of the zoo: it waits while it calls, and answers within the webhook.

A clinic reminds patients of appointments by SMS, and lets them in by a code.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, time
from typing import Any, Final
from zoneinfo import ZoneInfo

import httpx

PRAGUE: Final = ZoneInfo("Europe/Prague")
#: Patients are left alone outside these hours.
OPENS: Final = time(8)
CLOSES: Final = time(21)
#: So often a call is made.
TRIES: Final = 3
#: The pause before a call is made again where the service names none, in seconds.
PAUSE: Final = 1
#: Results from the first to the furthest.
RESULTS: Final = ("sending", "sent", "undelivered", "rejected", "failed", "delivered", "seen")


class Clinic:
    """The clinic: it calls by `http`, is a WSGI application for webhooks, and pauses by `sleep`."""

    def __init__(self, http: httpx.Client, now: Callable[[], datetime], sleep: Callable[[float], object]) -> None:
        self._http = http
        self._now = now
        self._sleep = sleep
        self._seen: set[str] = set()
        #: how many calls were made to send messages
        self.calls = 0
        self.results: dict[str, str] = {}
        self.confirmed: set[str] = set()
        #: so many deliveries are still refused, as if the clinic were being started
        self.starting = 0
        self.deliveries = 0

    def remind(self, patient: str) -> bool:
        """Reminds a patient; whether it did: not at night."""
        if not OPENS <= self._now().astimezone(PRAGUE).time() < CLOSES:
            return False
        return self._send(patient, f"Your appointment is tomorrow, {patient[-3:]}. YES?")

    def ask_code(self, patient: str) -> str:
        """Has a code sent; the token of the session, "" where there is none."""
        answer = self._again("POST", "/v1/validations", json={"phoneNumber": patient})
        return "" if answer is None or not answer.is_success else str(answer.json()["token"])

    def let_in(self, token: str, code: str) -> bool:
        """Whether a code opens the door."""
        answer = self._again("POST", f"/v1/validations/{token}/verify", json={"code": code})
        return answer is not None and answer.is_success

    def _send(self, patient: str, body: str) -> bool:
        """Sends a message once: where it is not known whether it was taken, the list of messages says so."""
        message = {"to": [{"phone_number": patient}], "body": body, "tag": "transactional", "payload": {"is": body}}
        for number in range(TRIES):
            self.calls += 1
            answer = self._call("POST", "/v2/message", json={**message, "callback": "https://clinic.example/hook"})
            if answer is not None and answer.status_code < 500 and answer.status_code != 429:
                return answer.is_success and bool(answer.json()["accepted"])
            lost = answer is None or answer.status_code >= 500
            if number + 1 < TRIES:
                self._pause(answer)
            if lost and self._was_taken(patient, body):
                return True
        return False

    def _was_taken(self, patient: str, body: str) -> bool:
        query = {"date": self._now().date().isoformat(), "phone_number": patient}
        answer = self._again("GET", "/v1/messages", params=query)
        return (
            answer is not None and answer.is_success and any(row["body"] == body for row in answer.json()["messages"])
        )

    def _again(self, method: str, path: str, **more: Any) -> httpx.Response | None:
        """The answer to a call that may be made more than once."""
        answer = None
        for number in range(TRIES):
            answer = self._call(method, path, **more)
            if answer is not None and answer.status_code < 500 and answer.status_code != 429:
                break
            if number + 1 < TRIES:
                self._pause(answer)
        return answer

    def _pause(self, answer: httpx.Response | None) -> None:
        self._sleep(int(answer.headers.get("Retry-After", PAUSE)) if answer is not None else PAUSE)

    def _call(self, method: str, path: str, **more: Any) -> httpx.Response | None:
        try:
            return self._http.request(method, path, **more)
        except httpx.TransportError:
            return None

    # -- webhooks

    def __call__(self, environ: Mapping[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        """Takes a delivery of webhooks."""
        self.deliveries += 1
        body = environ["wsgi.input"].read()
        if self.starting:
            self.starting -= 1
            start_response("503 Service Unavailable", [])
            return []
        if environ["HTTP_X_REQUEST_ID"] not in self._seen:
            self._seen.add(environ["HTTP_X_REQUEST_ID"])
            for event in json.loads(body):
                self._take(event)
        start_response("200 OK", [])
        return []

    def _take(self, event: Mapping[str, Any]) -> None:
        if event["type"] == "outgoing":
            key = event["message_id"]
            self.results[key] = max(self.results.get(key, RESULTS[0]), event["result"], key=RESULTS.index)
        elif event["body"].strip().upper() == "YES" and event["sender"] not in self.confirmed:
            self.confirmed.add(event["sender"])
            self._send(event["sender"], "Thank you, until tomorrow.")
