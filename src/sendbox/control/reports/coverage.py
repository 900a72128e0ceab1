"""Reports of coverage: as text, as JSON and as one page of HTML; read back, added up, compared with a minimum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from html import escape
from json import dumps
from typing import Final, Literal

from sendbox import __version__
from sendbox.engine import ENGINE
from sendbox.engine.answer import JsonObject
from sendbox.engine.coverage import Catalog, Item, Sum, Tally
from sendbox.engine.texts import nearest
from sendbox.services.assumptions import registry

#: Formats by the suffix of a file.
SUFFIXES: Final = {".json": "json", ".html": "html", ".htm": "html", ".txt": "text"}
FORMATS: Final = ("text", "json", "html")
#: The widest bar of a text, in characters.
_BAR: Final = 20


class Unreadable(ValueError):
    """Data that is not a report."""


#: Operations, or the word for those that were called.
Scope = frozenset[str] | Literal["used"]
USED: Final = "used"


def scope_of(words: Iterable[str], operations: Collection[str]) -> Scope:
    """A scope as it is given: `used`, or names of operations. Raises `ValueError`."""
    names = [word.strip() for word in words]
    if names == [USED]:
        return "used"
    for name in names:
        if name not in operations:
            near = nearest(name, operations)
            hint = f'did you mean "{near}"?' if near else f"legal: {USED}, or names such as {next(iter(operations))}"
            raise ValueError(f'"{name}" is not an operation; {hint}')
    return frozenset(names)


class Report(Sum):
    """The items that were tried, compared with all that can be tried. `leaned` counts entries by their assumption.

    Only items about the operations of the `scope` are compared; without one those about the `declared` operations,
    without any of these all.
    """

    def __init__(
        self,
        catalog: Catalog,
        tally: Tally | None = None,
        leaned: Mapping[str, int] | None = None,
        *,
        scope: Scope | None = None,
        declared: Iterable[str] = (),
    ) -> None:
        super().__init__(tally, leaned, declared)
        self.catalog = catalog
        self._scope = scope

    @property
    def scope(self) -> list[str] | None:
        """The operations of the scope in the order of the catalog, None for all."""
        operations = self._calls() if self._scope == USED else self._scope or self.declared
        return [name for name in self.catalog.rows if name in operations] if operations or self._scope == USED else None

    def _calls(self) -> Counter[str]:
        """The number of calls of each operation."""
        calls: Counter[str] = Counter()
        for name, count in self.tally.get("operations", {}).items():
            calls[name.partition(" ")[0]] += count
        return +calls

    def add_json(self, report: object) -> None:
        """Adds what another report says. Raises `Unreadable`."""
        items = report.get("items") if isinstance(report, dict) else None
        leaned = report.get("leaned", {}) if isinstance(report, dict) else None
        if not isinstance(items, dict) or not all(map(_counts, items.values())) or not _counts(leaned):
            raise Unreadable("it is not a report of coverage; legal: what `--format json` wrote")
        self.add_counts(items, leaned or {})

    # -- figures

    def items(self, dimension: str) -> list[tuple[Item, int]]:
        """The items of a dimension that are in the scope, each with how often it was tried.

        Items that were never tried come first, and of these the ones that are about what the client does most: calls of
        their operations, then what begins with the same word.
        """
        counts = self.tally.get(dimension, {})
        calls, scope, alike = self._calls(), self.scope, Counter[str]()
        for name, count in counts.items():
            alike[name.partition(" ")[0]] += count
        counted = []
        for item in self.catalog.dimensions[dimension]:
            about = self.catalog.operations(item)
            if scope is None or not set(scope).isdisjoint(about):
                count = counts.get(item.name, 0)
                use = 0 if count else -sum(calls[name] for name in about)
                counted.append((count > 0, use, 0 if count else -alike[item.name.partition(" ")[0]], item, count))
        counted.sort(key=lambda row: row[:3])
        return [(item, count) for *_, item, count in counted]

    def figures(self, dimension: str | None = None) -> tuple[int, int]:
        """The number of items that were tried, and the number of all items; of one dimension, or of all."""
        counted = [
            count for name in self.catalog.headings if dimension in (None, name) for _, count in self.items(name)
        ]
        return sum(count > 0 for count in counted), len(counted)

    def percent(self, dimension: str | None = None) -> float:
        """The share of items that were tried; of none it is everything, but nothing where no operation was called."""
        tried, of = self.figures(dimension)
        return 100 * tried / of if of else 0.0 if self.scope == [] else 100.0

    @property
    def _of_scope(self) -> str:
        """The scope in words."""
        return ", ".join(self.scope or ()) or "no operation: none was called"

    @property
    def headings(self) -> dict[str, str]:
        """The dimensions that have an item in the scope."""
        return {name: heading for name, heading in self.catalog.headings.items() if self.figures(name)[1]}

    def below(self, minima: Mapping[str | None, float]) -> list[str]:
        """A line for each minimum that is not reached; None stands for all dimensions together."""
        everything = "everything"
        if self.scope is not None:
            everything = "the scope" if self.scope else "the scope, in which no operation was called,"
        return [
            f"coverage of {everything if name is None else name} is {self.percent(name):.1f} %, "
            f"below the minimum of {least:g} %"
            for name, least in minima.items()
            if self.percent(name) < least
        ]

    # -- formats

    def render(self, form: str) -> str:
        """The report in one of the formats."""
        if form == "json":
            return dumps(self.as_json(), indent=1, ensure_ascii=False) + "\n"
        return self.html() if form == "html" else self.text()

    def as_json(self) -> JsonObject:
        """As plain values: every item with its count, 0 where it was never tried, in the scope or not."""
        return {
            "sendbox": __version__,
            "engine": ENGINE,
            "scope": self.scope,
            "total": self._shares(None),
            "dimensions": [
                {"name": name, "heading": heading, **self._shares(name)} for name, heading in self.headings.items()
            ],
            "items": self.catalog.named(self.tally),
            "leaned": {row.id: self.leaned[row.id] for row in registry() if row.id in self.leaned},
        }

    def _shares(self, dimension: str | None) -> dict[str, int]:
        return dict(zip(("tried", "of"), self.figures(dimension), strict=True))

    def dimension_json(self, name: str) -> JsonObject:
        """One dimension as plain values: its items that are in the scope, those that were never tried first."""
        return {
            "name": name,
            "heading": self.catalog.headings[name],
            **self._shares(name),
            "items": [
                {
                    "name": item.name,
                    "count": count,
                    "section": item.section,
                    "assumed": item.assumed,
                    "form": item.form,
                    "snippet": item.snippet,
                }
                for item, count in self.items(name)
            ],
        }

    def text(self, most: int | None = None) -> str:
        """For a terminal: a bar for each dimension, then what was never tried with how to try it.

        `most` of them in each dimension, and how many more there are.
        """
        return "\n".join(self._lines(most)) + "\n"

    def _lines(self, most: int | None) -> Iterator[str]:
        tried, of = self.figures()
        yield f"{tried} of {of} items tried, {self.percent():.1f} %"
        if self.scope is not None:
            yield f"in the scope of {self._of_scope}"
        yield ""
        headings = self.headings
        width = max(map(len, headings.values()), default=0)
        for name, heading in headings.items():
            tried, of = self.figures(name)
            bar = ("#" * (_BAR * tried // of)).ljust(_BAR, ".")
            yield f"{heading:<{width}}  {bar}  {tried:>3} of {of:>3}  {self.percent(name):5.1f} %"
        for name, heading in headings.items():
            never = [item for item, count in self.items(name) if not count]
            if never:
                yield ""
                yield f"{heading}, never tried:"
                listed = never[:most]
                width = min(48, max(len(item.name) for item in listed))
                for item in listed:
                    yield f"  {item.name:<{width}}  {item.snippet}"
                if len(never) > len(listed):
                    yield f"  and {len(never) - len(listed)} more"
        if self.leaned:
            yield ""
            yield "Assumptions leaned on:"
            yield from (
                f"  {row.id}  {self.leaned[row.id]:>6}  {row.title} ({row.section})"
                for row in registry()
                if row.id in self.leaned
            )

    def html(self) -> str:
        """One page without further files."""
        tried, of = self.figures()
        parts = [
            _HEAD,
            f"<p class=sum><b>{self.percent():.1f} %</b> {tried} of {of} items tried</p>",
        ]
        if self.scope is not None:
            parts.append(f"<p class=hint>In the scope of {escape(self._of_scope)}</p>")
        parts.append(
            "<p class=hint>Open a line to see what was never tried, each with a snippet that would try it.</p>"
        )
        for name, heading in self.headings.items():
            tried, of = self.figures(name)
            parts.append(
                f"<details><summary><span class=name>{escape(heading)}</span>"
                f"<meter min=0 max={of} value={tried}></meter><span class=num>{tried} of {of}</span></summary>\n<table>"
            )
            parts += [_row(item, count) for item, count in self.items(name)]
            parts.append("</table></details>")
        if self.leaned:
            parts.append("<h2>Assumptions leaned on</h2>\n<table>")
            parts += [
                f"<tr><td class=num>{self.leaned[row.id]}</td><td>{row.id}</td><td>{escape(row.title)} "
                f"<span class=at>{escape(row.section)}</span></td><td class=why>{escape(row.default)}</td></tr>"
                for row in registry()
                if row.id in self.leaned
            ]
            parts.append("</table>")
        parts.append(f"<footer>Sendbox {escape(__version__)}</footer></body></html>")
        return "\n".join(parts) + "\n"


def minimum(text: str, dimensions: Collection[str]) -> tuple[str | None, float]:
    """A minimum as it is given: `60`, or `operations=80` for one dimension. Raises `ValueError`."""
    name, equals, percentage = text.rpartition("=")
    if equals and name not in dimensions:
        raise ValueError(f'"{name}" is not a dimension of coverage; legal: {", ".join(dimensions)}')
    try:
        least = float(percentage)
    except ValueError:
        least = -1.0
    if not 0 <= least <= 100:
        raise ValueError(f'"{percentage}" is not a minimum of coverage; legal: a percentage, or DIMENSION=PERCENT')
    return name or None, least


def _counts(value: object) -> bool:
    return isinstance(value, dict) and all(type(count) is int and count >= 0 for count in value.values())


def _row(item: Item, count: int) -> str:
    rests = f" <span class=at>{escape(item.assumed)}</span>" if item.assumed else ""
    snippet = f"<pre>{escape(item.snippet)}</pre>" if not count else ""
    times = str(count) if count else "never"
    return (
        f"<tr class={'yes' if count else 'no'}><td class=num>{times}</td><td class=item>{escape(item.name)} "
        f"<span class=at>{escape(item.section)}</span>{rests}</td><td>{snippet}</td></tr>"
    )


_HEAD: Final = """\
<!doctype html>
<html lang=en><head><meta charset=utf-8><meta name=viewport content="width=device-width">
<title>Sendbox: coverage</title>
<style>
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --bad: #b3261e; --good: #1b7f3b }
@media (prefers-color-scheme: dark) { :root { --bad: #ff8a80; --good: #6fd08c } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
h1 { margin: 0 } h2 { margin: 2rem 0 .5rem }
.sum { font-size: 1.2rem; margin: .2rem 0 } .hint, footer { opacity: .7 } footer { margin: 2rem 0 }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; overflow: hidden }
summary { display: flex; gap: 1rem; align-items: center; padding: .5rem .8rem; cursor: pointer }
summary { background: var(--soft) }
summary .name { flex: 1 } meter { width: 12rem; height: 1rem }
.num { text-align: right; white-space: nowrap; min-width: 6rem; font-variant-numeric: tabular-nums }
td.num { min-width: 3rem }
table { border-collapse: collapse; width: 100% }
td { padding: .3rem .8rem; border-top: 1px solid var(--line); vertical-align: top }
.no .num { color: var(--bad) } .yes .num { color: var(--good) }
.item { white-space: nowrap } .at { opacity: .6; font-size: .85em } .why { opacity: .8 }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.4 ui-monospace, monospace }
</style></head><body>
<h1>Coverage</h1>"""
