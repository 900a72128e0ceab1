"""A real browser in front of the page: the system's Chromium, or the program that SENDBOX_BROWSER names."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]  # it has no types
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Request, expect, sync_playwright

from sendbox.fixture.sandbox import Sandbox
from tests.tiers import LONG

T = TypeVar("T")
#: Browsers that are looked for; the first is the one that people have.
PROGRAMS: Final = ("chromium", "google-chrome", "chromium-headless-shell")
#: What a browser without a screen needs, and what it must not ask of other hosts.
ARGUMENTS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
#: Real milliseconds that a step of a test waits for the page, however busy the machine is.
PATIENCE: Final = 60_000
FOLDER: Final = Path(__file__).parent
#: Ends once nothing moves and no font is loaded any more, and the page was drawn after that.
SETTLED: Final = """async () => {
  for (let moving = document.getAnimations(); moving.length; moving = document.getAnimations())
    await Promise.allSettled(moving.map((animation) => animation.finished));
  await document.fonts.ready;
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""
#: Keeps in `notes` each text that a page says about an act: the page takes it away again after some seconds.
NOTES: Final = """
  window.notes = [];
  document.addEventListener("DOMContentLoaded", () => {
    const texts = ({ addedNodes }) => [...addedNodes].map((note) => note.textContent);
    const keep = (changes) => notes.push(...changes.flatMap(texts));
    const status = document.getElementById("status");
    if (status) new MutationObserver(keep).observe(status, { childList: true });
  });
"""
#: Whether a text was said; it, and what was said before it, is not looked at again.
SAID: Final = """text => {
  const place = notes.findIndex((note) => note.includes(text));
  return place >= 0 && notes.splice(0, place + 1).length;
}"""
#: Elements that scroll to the side; the lines of a scenario are not broken.
SIDEWAYS: Final = """[...document.querySelectorAll("body *:not(textarea)")].filter((element) =>
  ["auto", "scroll"].includes(getComputedStyle(element).overflowX) && element.scrollWidth > element.clientWidth + 1
).map((element) => element.outerHTML.slice(0, 200))"""
expect.set_options(timeout=PATIENCE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The journeys of this folder may take long: on a busy machine a browser draws little."""
    for item in items:
        if item.path.is_relative_to(FOLDER) and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(LONG))


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """The browser of this folder. Without one its tests are skipped, but not in continuous integration.

    Playwright runs a loop in this thread until it ends, so tests of other folders could not run theirs.
    """
    program = os.environ.get("SENDBOX_BROWSER") or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("no browser is installed; continuous integration needs chromium")
        pytest.skip(
            "no browser is installed: install chromium or chromium-headless-shell, or name a program in SENDBOX_BROWSER"
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS), timeout=PATIENCE)
        yield browser
        browser.close()


@dataclass
class Tab:
    """A tab of the browser that shows a world of `sendbox`. What a page must not do is kept in `wrong`."""

    page: Page
    sendbox: Sandbox
    wrong: list[str] = field(default_factory=list)
    fetched: int = 0

    def open(self, view: str | None = None, **fields: str) -> Tab:
        """Shows a view of the world, and waits until the page is live."""
        query = {"world": self.sendbox.api_key, **({} if view is None else {"view": view}), **fields}
        self.page.goto(f"{self.sendbox.origin}/_sandbox/?{urlencode(query, quote_via=quote)}")
        if "then" not in fields:
            self.page.locator(".live.on").wait_for(state="attached")
        return self

    def apart(self, act: Callable[[], T]) -> T:
        """What an act of `sendbox` answers. Playwright runs a loop in this thread, so the handle cannot wait here."""
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(act).result()

    def see(self, text: str, within: str = "main") -> Locator:
        """Waits until a text is seen; answers the innermost element that has it."""
        found = self.page.locator(within).get_by_text(text).first
        found.wait_for()
        return found

    def press(self, name: str, role: Any = "button", within: str = "body") -> None:
        """Presses a button (or follows a link) by its name."""
        self.page.locator(within).get_by_role(role, name=name, exact=True).first.click()

    def fill(self, label: str, text: str) -> None:
        """Types into a field by its label."""
        self.page.get_by_label(label, exact=True).first.fill(text)

    def said(self, text: str) -> None:
        """Waits until the page has said something about an act, since what was waited for last."""
        self.page.wait_for_function(SAID, arg=text)

    def copied(self, button: str) -> str:
        """The text that a button copies; a browser gives its clipboard only to the page in front."""
        self.page.bring_to_front()
        self.press(button)
        self.said("Copied.")
        text: str = self.page.evaluate("navigator.clipboard.readText()")
        return text

    def settle(self) -> None:
        """Waits until the page stands still: no animation runs, and its fonts are there."""
        self.page.evaluate(SETTLED)

    def fits(self) -> None:
        """Nothing is wider than the page, and nothing in the middle than the middle, once it stands still."""
        self.settle()
        for part in ("html", "main"):
            assert self.page.locator(part).evaluate("part => part.scrollWidth <= part.clientWidth"), part

    def stays_upright(self) -> None:
        """The same, and nothing in the page scrolls to the side by itself, such as a table."""
        self.fits()
        assert self.page.evaluate(SIDEWAYS) == []

    def rows_in_sight(self) -> list[str]:
        """The places of the rows of the list that are seen whole, in their order, once the page stands still."""
        self.settle()
        seen: list[str] = self.page.locator("sb-list").evaluate(
            """list => {
              const { top, bottom } = list.getBoundingClientRect();
              const inside = ({ top: above, bottom: below }) => above >= top - 1 && below <= bottom + 1;
              return [...list.querySelectorAll("li[aria-posinset]")]
                .filter((row) => inside(row.getBoundingClientRect()))
                .map((row) => row.getAttribute("aria-posinset"));
            }"""
        )
        return seen

    def accessible(self) -> None:
        """axe finds nothing, in the light and in the dark, which differ in colours only."""
        self.page.evaluate(Axe().axe_script)
        for scheme, rules in (("light", {}), ("dark", {"runOnly": {"type": "rule", "values": ["color-contrast"]}})):
            self.page.evaluate("scheme => { document.documentElement.dataset.theme = scheme }", scheme)
            self.settle()
            found = self.page.evaluate(
                "options => axe.run(options).then((result) => result.violations)",
                {"resultTypes": ["violations"], **rules},
            )
            assert not found, f"{scheme}: {json.dumps(found, indent=1)[:6000]}"


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A fresh profile: nothing of another test is kept."""
    context = browser.new_context(
        viewport={"width": 1280, "height": 800},
        permissions=["clipboard-read", "clipboard-write"],
        reduced_motion="reduce",
    )
    context.set_default_timeout(PATIENCE)
    yield context
    context.close()


@pytest.fixture
def tab(context: BrowserContext, sendbox: Sandbox) -> Iterator[Tab]:
    """A tab; afterwards nothing was wrong: no error in a script, no breach of the policy, no other host asked."""
    page = context.new_page()
    page.add_init_script(NOTES)
    tab = Tab(page, sendbox)

    def console(message: ConsoleMessage) -> None:
        if message.type == "error" and "the server responded with a status of 4" not in message.text:
            tab.wrong.append(message.text)

    def request(request: Request) -> None:
        if not request.url.startswith((sendbox.origin, "data:", "blob:")):
            tab.wrong.append(f"asked {request.url}")

    page.on("console", console)
    page.on("pageerror", lambda error: tab.wrong.append(str(error)))
    page.on("request", request)
    yield tab
    assert tab.wrong == []
