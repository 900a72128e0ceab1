"""The scripts of the page as one file. The sources are modules.

A module becomes a function, which runs when the module is used for the first time and returns what it exports. So
modules keep their own names, and a view costs nothing before it is shown. Of JavaScript this reads only the forms of
`import` and `export` that the page has; modules that use each other in a circle cannot be bundled.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from posixpath import dirname, join, normpath
from typing import Final

_IMPORT: Final = re.compile(r'^import (?:(.+?) from )?"(\.[^"]+)";$', re.MULTILINE)
_PASSED_ON: Final = re.compile(r'^export \{ (.+?) \} from "(\.[^"]+)";$', re.MULTILINE)
_EXPORT: Final = re.compile(
    r"^export ((?:async function|function|class|const) (\{[^}]*\}|\[[^\]]*\]|\w+))", re.MULTILINE
)
_LATER: Final = re.compile(r"\bimport\(`(\./[^$`]*)")
#: What no browser needs: comments that have lines of their own, empty lines, the space before lines, the end of a line
#: after a comma.
_UNREAD: Final = re.compile(r"^[ \t]*(?:/\*(?:[^*]|\*(?!/))*\*/[ \t]*\n|//[^\n]*\n|\n)|^[ \t]+|(?<=,)\n", re.MULTILINE)
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
