"""Pages as answers: the files of the page, its templates, the headers, and the report of a world as a document.

Files are scripts, styles and icons. All of them are in the package; nothing comes from another host. Their address has
a stamp of their content, so a browser keeps them for as long as they do not change. The modules of the
page are served as one script, its styles as one file; all compressed.

In that script a module is a function, which runs when the module is used for the first time and returns what it
exports. So modules keep their own names, and a view costs nothing before it is shown. Of JavaScript this reads only the
forms of `import` and `export` that the page has; modules that use each other in a circle cannot be bundled.

Templates are what is rendered here and not in the browser. Everything that comes from a client is escaped. The report
needs no further file: its style stands in it, and it has no scripts.
"""

from __future__ import annotations

import asyncio
import base64
import functools
import gzip
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from starlette.responses import HTMLResponse, Response

if TYPE_CHECKING:
    from jinja2 import Environment

_IMPORT: Final = re.compile(r'^import (?:(.+?) from )?"(\.[^"]+)";$', re.MULTILINE)
_PASSED_ON: Final = re.compile(r'^export \{ (.+?) \} from "(\.[^"]+)";$', re.MULTILINE)
_EXPORT: Final = re.compile(
    r"^export ((?:async function|function|class|const) (\{[^}]*\}|\[[^\]]*\]|\w+))", re.MULTILINE
)
_LATER: Final = re.compile(r"\bimport\(`(\./[^$`]*)")
#: What no browser needs: comments that have lines of their own, empty lines, and the space before lines.
_UNREAD: Final = re.compile(r"^[ \t]*(?:/\*(?:[^*]|\*(?!/))*\*/[ \t]*\n|//[^\n]*\n|\n)|^[ \t]+", re.MULTILINE)
#: The script: it runs a module once, when it is used. A shared worker begins with another module than a page.
_SCRIPT: Final = """\
const made = {{}};
const use = (name) => (made[name] ??= modules[name]());
const useLater = async (name) => use(name);
const modules = {{
{functions}
}};
use("onconnect" in globalThis ? "{worker}" : "{page}");
"""


def bundle(modules: Mapping[str, str], page: str, worker: str) -> str:
    """Modules by their paths as one script, which begins with one of them in a page, and in a shared worker."""
    functions = ",\n".join(f'"{path}"() {{\n{_function(path, text)}}}' for path, text in modules.items())
    return _SCRIPT.format(functions=functions, page=page, worker=worker)


def style_sheet(sheets: Iterable[str]) -> str:
    """Styles as one, in their order."""
    return _UNREAD.sub("", "".join(sheets))


def _function(path: str, text: str) -> str:
    """The body of the function that a module becomes."""
    exports: list[str] = []

    def pass_on(match: re.Match[str]) -> str:
        exports.extend(name.strip() for name in match[1].split(","))
        return f"const {{ {match[1]} }} = {_used(path, match[2])};"

    def export(match: re.Match[str]) -> str:
        exports.extend(name.rpartition(":")[2].strip() for name in match[2].strip("{}[]").split(","))
        return match[1]

    text = _UNREAD.sub("", text)
    text = _IMPORT.sub(lambda match: f"{_names(match[1])}{_used(path, match[2])};", text)
    text = _PASSED_ON.sub(pass_on, text)
    text = _EXPORT.sub(export, text)
    text = _LATER.sub(lambda match: f"useLater(`{_resolve(path, match[1])}{'/' * match[1].endswith('/')}", text)
    return f"{text}return {{ {', '.join(exports)} }};\n"


def _names(names: str | None) -> str:
    """The names of an import as they stand before a `=`."""
    if names is None:
        return ""
    return f"const {names.removeprefix('* as ').replace(' as ', ': ')} = "


def _used(path: str, other: str) -> str:
    return f'use("{_resolve(path, other)}")'


def _resolve(path: str, other: str) -> str:
    """The path of a module that another one names."""
    return normpath(join(dirname(path), other))


def imports(path: str, text: str) -> list[str]:
    """The paths of the modules that a module needs before it can run."""
    return [_resolve(path, match[2]) for pattern in (_IMPORT, _PASSED_ON) for match in pattern.finditer(text)]


FOLDER: Final = Path(__file__).parent / "static"
#: What a file is, by its ending; others are not served.
TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
#: The styles, in the order in which they apply; those of the views follow by name.
STYLES: Final = ("css/look.css", "css/frame.css")
#: Styles of other pages, which are files of their own.
HOSTED_STYLES: Final = ("css/look.css", "css/hosted.css")
ICON: Final = "icon.svg"
#: The modules with which the page begins, and the worker that all its tabs share.
APPLICATION: Final = "js/app.js"
WORKER: Final = "js/worker.js"
#: The script of the page and of the worker, and the style of the page.
SCRIPT: Final = "js/page.js"
STYLE_SHEET: Final = "css/page.css"


class File(NamedTuple):
    """A file: its content, also compressed, and its type."""

    content: bytes
    compressed: bytes
    kind: str


class Assets(NamedTuple):
    """The files by path, and the stamp of all."""

    files: dict[str, File]
    stamp: str


@functools.cache
def assets() -> Assets:
    """All files that are served. They are made once, which takes too long for the event loop."""
    sources = {
        path.relative_to(FOLDER).as_posix(): path.read_text("utf-8")
        for path in sorted(FOLDER.rglob("*"))
        if path.suffix in TYPES
    }
    modules = {path: text for path, text in sources.items() if path.endswith(".js")}
    styles = [path for path in sources if path.endswith(".css") and path not in (*STYLES, *HOSTED_STYLES)]
    texts = {
        **{path: sources[path] for path in (ICON, *HOSTED_STYLES)},
        SCRIPT: bundle(modules, APPLICATION, WORKER),
        STYLE_SHEET: style_sheet(sources[path] for path in (*STYLES, *styles)),
    }
    files = {path: _file(path, text.encode()) for path, text in texts.items()}
    digest = hashlib.sha256()
    for path, file in files.items():
        digest.update(f"{path} {len(file.content)}\n".encode() + file.content)
    return Assets(files, digest.hexdigest()[:12])


def _file(path: str, content: bytes) -> File:
    return File(content, gzip.compress(content, mtime=0), TYPES[Path(path).suffix])


# --- templates

#: The longest text that is shown whole.
MAX_TEXT: Final = 400


@functools.cache
def environment() -> Environment:
    """The templates. The first call imports jinja2, which takes too long for the event loop."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    templates.filters["cut"] = cut
    return templates


def html(template: str, data: Mapping[str, object]) -> str:
    """A template with its data."""
    return environment().get_template(template).render(data)


def cut(text: object, length: int = MAX_TEXT) -> str:
    """A text of bounded length."""
    complete = str(text)
    return complete if len(complete) <= length else f"{complete[: length - 1]}…"


# --- the report of a world

#: What the page has beside the look of every page.
STYLE: Final = Path(__file__).parent / "templates" / "report.css"


@functools.cache
def style() -> tuple[str, str]:
    """The style, and the policy of a page that has it: this style, and nothing else."""
    content = assets().files["css/look.css"].content.decode() + STYLE.read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
    return content, f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'"


def document(report: Mapping[str, Any]) -> str:
    """A report as a page. The first one takes longer than anything may hold the event loop."""
    content, policy = style()
    return html("report.html", {"report": report, "style": content, "policy": policy})


# --- answers

#: What a browser may do with any page: nothing comes from another host, and no script or style stands in a page, so a
#: script that a client put into its texts cannot run.
_POLICY: Final = "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'"
HEADERS: Final = {
    "cache-control": "no-store",
    # not `no-referrer`: with that the forms of a page have the origin `null`, which is foreign (`server/origin.py`)
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}


def headers(more: str) -> dict[str, str]:
    """The headers of a page with further rights."""
    return {**HEADERS, "content-security-policy": f"{_POLICY}; {more}"}


#: The page itself: its own scripts, which ask control.
SHELL: Final = headers("script-src 'self'; worker-src 'self'; connect-src 'self'; form-action 'self'")
#: Pages for clients of an emulated service: forms at most.
HOSTED: Final = headers("form-action 'self'")
#: The address of the files of the page.
FILES: Final = "/_sandbox/page"


async def page(
    template: str, data: Callable[[], Mapping[str, object]], status: int = 200, headers: Mapping[str, str] = HOSTED
) -> Response:
    """A template rendered off the loop: the first takes longer than anything may hold it."""

    def render() -> str:
        return html(template, {"files": f"{FILES}/{assets().stamp}", **data()})

    text = await asyncio.get_running_loop().run_in_executor(None, render)
    return HTMLResponse(text, status, headers)


async def lost(status: int, message: str) -> Response:
    """The page; `message` is the text that a client gets that is not a browser."""
    data = {"expired": status == 410, "message": message}
    return await page("link.html", lambda: data, status)
