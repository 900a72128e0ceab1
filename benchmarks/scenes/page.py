"""The page in a browser: how long its longest frame takes while a long list scrolls and grows."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Final

from benchmarks.bench import Bench
from benchmarks.goals import Samples
from benchmarks.load import KEY
from benchmarks.processes import Broken, Process

if TYPE_CHECKING:
    from playwright.sync_api import Page

#: Recipients of one call, and turns of the wheel.
_AT_ONCE: Final = 10
_TURNS: Final = 60
_NUMBER: Final = "page-frame"
#: Keeps the times between frames.
_WATCH: Final = """() => {
  window.frames = [];
  let last = performance.now();
  const next = (now) => { window.frames.push(now - last); last = now; requestAnimationFrame(next); };
  requestAnimationFrame(next);
}"""


def frames(bench: Bench) -> Samples:
    """The longest frame of the list of messages, over several rounds."""
    from playwright.sync_api import sync_playwright

    program = os.environ.get("SENDBOX_BROWSER") or shutil.which("chromium")
    if program is None:
        raise Broken("no browser: install chromium, or name a program in SENDBOX_BROWSER")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for tree in bench.trees:
            with bench.trying(tree), tree.serve() as server:
                _send(server, 0, bench.size(20_000, 2_000))
                server.ask("POST", f"/_sandbox/worlds/{KEY}/clock/advance", {"by": "1m"})
                for _ in bench.rounds(5):
                    page = browser.new_page(viewport={"width": 1280, "height": 800})
                    yield tree.name, {_NUMBER: _scroll(page, server)}
                    page.close()
        browser.close()


def _send(server: Process, first: int, count: int) -> None:
    for number in range(first, first + count, _AT_ONCE):
        to = [{"phone_number": f"420777{place:06}"} for place in range(number, number + _AT_ONCE)]
        server.ask("POST", "/v2/message", {"to": to, "body": "Hello"}, key=KEY)


def _scroll(page: Page, server: Process) -> float:
    """Milliseconds of the longest frame while the wheel turns and messages come."""
    page.goto(f"http://127.0.0.1:{server.port}/_sandbox/?world={KEY}&view=messages")
    page.locator("sb-list a.row").first.wait_for()
    page.evaluate(_WATCH)
    page.locator("sb-list").hover()
    for turn in range(_TURNS):
        page.mouse.wheel(0, 800)
        if turn % _AT_ONCE == 0:
            _send(server, 900_000 + turn, _AT_ONCE)
    longest: float = page.evaluate("Math.max(...window.frames)")
    return longest
