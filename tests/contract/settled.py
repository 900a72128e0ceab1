"""Checkers of schemas with the keywords that settings relax, as they hold by default."""

from __future__ import annotations

from sendbox.contract import schemas
from sendbox.contract.validators import Checker, Contract


def settled_checker(contract: Contract, ref: str) -> Checker:
    """The checker of a schema as it stands."""
    return Checker(ref, schemas.inlined(contract.definitions, schemas.name_of(ref)))
