"""Stands for your application: it takes webhooks on port 3000, prints what they say, and answers 200."""

from __future__ import annotations

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver(BaseHTTPRequestHandler):
    """One webhook is a POST with a list of events."""

    def do_POST(self) -> None:
        """Prints the result of each event."""
        for event in json.loads(self.rfile.read(int(self.headers["content-length"]))):
            sys.stdout.write(f"{event['type']} {event['result']}\n")
        sys.stdout.flush()
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()


ThreadingHTTPServer(("", int(os.environ.get("PORT", "3000"))), Receiver).serve_forever()
