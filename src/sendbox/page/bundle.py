"""The scripts of the page as one file for its first rows, and another one for the rest. The sources are modules.

A module becomes a function, which runs when the module is used for the first time and returns what it exports. So
modules keep their own names, and a view costs nothing before it is shown. Of JavaScript this reads only the forms of
`import` and `export` that the page has; modules that use each other in a circle cannot be bundled.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from posixpath import dirname, join, normpath
from typing import Final, NamedTuple

_IMPORT: Final = re.compile(r'^import (?:(.+?) from )?"(\.[^"]+)";$', re.MULTILINE)
_PASSED_ON: Final = re.compile(r'^export \{ (.+?) \} from "(\.[^"]+)";$', re.MULTILINE)
_EXPORT: Final = re.compile(
    r"^export ((?:async function|function|class|const) (\{[^}]*\}|\[[^\]]*\]|\w+))", re.MULTILINE
)
_LATER: Final = re.compile(r"\bimport\(`(\./[^$`]*)")
#: What no browser needs: comments that have lines of their own, and the space before lines.
_UNREAD: Final = re.compile(r"^[ \t]*(?:/\*\*(?:[^*]|\*(?!/))*\*/[ \t]*\n|//[^\n]*\n)|^[ \t]+", re.MULTILINE)
#: The script of the first rows: it runs a module once, and fetches the rest when one of it is used.
_FIRST: Final = """\
const made = {{}};
export const use = (name) => (made[name] ??= modules[name]());
const useLater = async (name) => {{
if (!(name in modules)) await import("{rest}");
return use(name);
}};
export const modules = {{
{functions}
}};
use("{first}");
"""
#: The rest, which works with what the first script has made.
_REST: Final = """\
import {{ modules, use }} from "{script}";
Object.assign(modules, {{
{functions}
}});
"""


class Scripts(NamedTuple):
    """The script of the first rows, and the rest."""

    first: str
    rest: str


def bundle(modules: Mapping[str, str], first: str, views: Collection[str], names: tuple[str, str]) -> Scripts:
    """Modules by their paths as two scripts. The first one begins with one of them, and has what these views need.

    `names` are those of the two files, beside each other.
    """
    soon: set[str] = set()
    waiting = [first, *views]
    while waiting:
        path = waiting.pop()
        if path not in soon:
            soon.add(path)
            waiting += imports(path, modules[path])
    functions = {path: f'"{path}"() {{\n{_function(path, text)}}}' for path, text in modules.items()}
    script, rest = (f"./{name}" for name in names)
    return Scripts(
        _FIRST.format(functions=_joined(functions, soon), first=first, rest=rest),
        _REST.format(functions=_joined(functions, functions.keys() - soon), script=script),
    )


def _joined(functions: Mapping[str, str], paths: Collection[str]) -> str:
    return ",\n".join(function for path, function in functions.items() if path in paths)


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
