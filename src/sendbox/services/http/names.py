"""Names of fields: unknown ones, with the nearest known name, and old ones, which still work (§9)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from sendbox.contract.findings import QUOTED, show
from sendbox.engine.remarks import Advice, Finding
from sendbox.services.advice import DEPRECATED_NAME, OLD_NAME_IGNORED, UNKNOWN_FIELD, advise
from sendbox.services.assume import Assume

if TYPE_CHECKING:
    from sendbox.services.http.exchange import Exchange

#: So many unknown fields of one record are named one by one: the search for the nearest name is not cheap.
NAMED: Final = 10
#: A call that has so many remarks gets no more hints, for the same reason.
HINTED: Final = 100
_EFFECT: Final = re.compile(" and (has|have) no effect")


def unknown_fields(
    record: Iterable[str], known: frozenset[str], path: str, section: str, advice: list[Advice], noun: str = "field"
) -> None:
    """Advice for each field of `record` that is not `known`, in the order given (A57); from the eleventh on in one."""
    unknown = [name for name in record if name not in known]
    for name in unknown[:NAMED]:
        hint = nearest(name, known) if len(advice) < HINTED else None
        text = f"{show(name)} is not a {noun} here and has no effect{f'; nearest is {show(hint)}' if hint else ''}"
        advice.append(advise(UNKNOWN_FIELD, text, child(path, name), section))
    if len(unknown) > NAMED:
        text = f"{len(unknown) - NAMED} more {noun}s are not known here and have no effect"
        advice.append(advise(UNKNOWN_FIELD, text, path, section))


def refused_fields(exchange: Exchange, advice: list[Advice]) -> list[Finding]:
    """The findings that replace the advice on unknown fields, if the setting refuses such fields (A57)."""
    if Assume.of(exchange.world).unknown_fields != "refuse":
        return []
    unknown = [remark for remark in advice if remark.code == UNKNOWN_FIELD]
    advice[:] = [remark for remark in advice if remark.code != UNKNOWN_FIELD]
    return [
        Finding(
            remark.path,
            "unknown-field",
            f"{_EFFECT.sub('', remark.message)} ({remark.section}, A57)",
            remark.section,
            "A57",
        )
        for remark in unknown
    ]


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most similar to `name`, ignoring case; None if no name is similar."""
    if len(name) > QUOTED:
        return None
    folded = {legal.lower(): legal for legal in sorted(known)}
    from difflib import get_close_matches

    close = get_close_matches(name.lower(), folded, 1)
    return folded[close[0]] if close else None


def child(path: str, name: str) -> str:
    """The path of a field: `$.to`, or `$['a b']` for a name that is not an identifier."""
    return f"{path}.{name}" if name.isidentifier() and len(name) <= QUOTED else f"{path}[{name[:QUOTED]!r}]"


def choose_name(fields: Mapping[str, Any], name: str, alias: str, section: str, advice: list[Advice]) -> str:
    """The name that a request uses for a field with two names; with both, the alias is ignored (A86)."""
    if alias not in fields:
        return name
    if name not in fields:
        return alias
    text = f"{show(alias)} stands beside {show(name)}, of which it is another name, and is ignored"
    advice.append(advise(OLD_NAME_IGNORED, text, f"$.{alias}", section))
    return name


def renamed(record: dict[str, Any], old: str, new: str, path: str, advice: list[Advice]) -> Any:
    """The value of a field that has a deprecated name, None if the record has neither name (§9).

    The old name works with advice (A85); beside the new one it is ignored, with advice (A86).
    """
    value = record.get(new)
    if old in record:
        if value is not None:
            text = f"{show(old)} stands beside {show(new)} and is ignored: the new name wins"
            advice.append(advise(OLD_NAME_IGNORED, text, f"{path}.{old}"))
            return value
        text = f"{show(old)} is a deprecated name; the name is now {show(new)}"
        advice.append(advise(DEPRECATED_NAME, text, f"{path}.{old}"))
        return record[old]
    return value
