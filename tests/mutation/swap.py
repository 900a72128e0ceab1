"""A mutant inside a running process: the code of the functions that differ is exchanged in place."""

from __future__ import annotations

import gc
import warnings
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_OPTIMIZED = 0x1
"""The flag of a code object that is a function's, and not that of a class or a module."""


def exchanges(path: Path, before: str, after: str) -> list[tuple[CodeType, CodeType]] | None:
    """Pairs of code objects, old and new, that turn one text of a file into the other; None if only an import can."""
    pairs: list[tuple[CodeType, CodeType]] = []
    with warnings.catch_warnings():  # a mutant may be code that the compiler warns about
        warnings.simplefilter("ignore")
        fits = _compare(compile(before, str(path), "exec"), compile(after, str(path), "exec"), pairs)
    return pairs if fits and pairs else None


def swap(path: Path, pairs: list[tuple[CodeType, CodeType]]) -> bool:
    """Exchange the code of every function of `path` that now exists; whether each pair met one."""
    new = {(old.co_qualname, old.co_firstlineno): code for old, code in pairs}
    met = set()
    for function in gc.get_objects():
        if isinstance(function, FunctionType) and function.__code__.co_filename == str(path):
            key = (function.__code__.co_qualname, function.__code__.co_firstlineno)
            if key in new:
                function.__code__ = new[key]
                met.add(key)
    return met == set(new)


def _compare(old: CodeType, new: CodeType, pairs: list[tuple[CodeType, CodeType]]) -> bool:
    """Whether code of a module or a class differs in nothing but its functions, which are added to `pairs`."""
    if (old.co_code, old.co_names, len(old.co_consts)) != (new.co_code, new.co_names, len(new.co_consts)):
        return False
    for one, other in zip(old.co_consts, new.co_consts, strict=True):
        if not isinstance(one, CodeType) or not isinstance(other, CodeType):
            if (type(one), one) != (type(other), other):
                return False
        elif one.co_flags & _OPTIMIZED:
            if one != other:
                pairs.append((one, other))
        elif not _compare(one, other, pairs):
            return False
    return True
