"""Remarks on requests: a finding on an illegal one, advice on a legal one.

Both are plain records that travel from where they are made (contract, services, engine) to the journal, the log,
the page and the fixture. On the wire only the first finding of a refused request shows, as one line.
"""

from __future__ import annotations

from typing import Protocol

import msgspec
from msgspec.structs import asdict


class Finding(msgspec.Struct, frozen=True, gc=False):
    """Why a request is illegal.

    `path` is a JSONPath (`$.flow[1].sms.ttl`), `rule` the keyword or rule name that was broken (`minimum`),
    `message` one line that begins with the value, `section` the place in the specification (`§2.2`),
    `assumed` the id of the assumption it rests on (`A56`), if any; `value` is what stood at the path, in short (None
    where nothing did), filled in when the refusal is journaled.
    """

    path: str
    rule: str
    message: str
    section: str
    assumed: str | None = None
    value: str | None = None

    def as_json(self) -> dict[str, str | None]:
        """The finding as the journal shows it."""
        return {name: getattr(self, name) for name in ("path", "value", "rule", "message", "section", "assumed")}


class Advice(msgspec.Struct, frozen=True, gc=False):
    """A remark on a legal request: what the service would silently do with it.

    `code` is a stable lower-case word (`unknown-field`), `path` a JSONPath, `message` one line that begins with the
    value, `section` the place in the specification, `assumed` an assumption id, if any. A `note` is a remark that a
    plain `strict` passes over.
    """

    code: str
    message: str
    path: str
    section: str
    assumed: str | None = None
    note: bool = False

    @property
    def docs(self) -> str:
        """The page of the documentation about this code."""
        return f"docs/advice/{self.code}.md"

    def as_json(self) -> dict[str, str | bool | None]:
        """The advice as control shows it (`entry` is added by the journal)."""
        return {**asdict(self), "docs": self.docs}


class RemadeAdvice(Protocol):
    """Advice that is not kept with its call, as the body of the call is enough to make it again."""

    def remake(self, body: bytes) -> list[Advice]:
        """The advice."""
