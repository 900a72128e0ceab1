"""Regular expressions that are compiled at their first use: a start needs few of them, and lost a twentieth to all."""

from __future__ import annotations

import re
from typing import AnyStr, Final, Generic, cast

_METHODS: Final = ("findall", "finditer", "fullmatch", "match", "search", "split", "sub")


class _Late(Generic[AnyStr]):
    """An expression that has its methods from its first use on. Its `pattern` needs no compiled one."""

    def __init__(self, source: AnyStr, flags: int) -> None:
        self.pattern: AnyStr = source
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        compiled = re.compile(self.pattern, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def regex(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """The expression, compiled at its first use. It has the methods; functions of `re` do not take it."""
    return cast("re.Pattern[AnyStr]", _Late(source, flags))
