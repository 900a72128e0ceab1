"""Phone numbers: their international form (A14), and the country that events name (A82)."""

from __future__ import annotations

from typing import Final

#: Calling codes that the drawn worlds use, with their mobile country codes.
COUNTRIES: Final = {"1": 310, "420": 230, "421": 231, "43": 232, "44": 234, "48": 260, "49": 262, "687": 546}


def calling_code(number: str) -> str | None:
    """The calling code with which an international number begins."""
    return next((code for code in COUNTRIES if number.startswith(code)), None)


def normalized(text: str) -> str | None:
    """A number of a Czech account in international form; None where there is none (A14)."""
    marked = [character for character in text if character in "0123456789+"]
    explicit = marked[:1] == ["+"] or marked[:2] == ["0", "0"]
    number = "".join(marked).replace("+", "").lstrip("0")
    if len(number) == 9 and number[0] in "67" and not explicit:
        number = f"420{number}"
    return number if 8 <= len(number) <= 15 and calling_code(number) else None


def country(number: str | None) -> int:
    """The mobile country code of a number, 0 where it is not known (A82)."""
    code = None if number is None else calling_code(number)
    return 0 if code is None else COUNTRIES[code]
