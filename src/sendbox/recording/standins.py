"""The masking of recordings: in place of each secret stands an invented word of the same form, always the same one.

So a recording can be compared: calls with one key are those of one account, and a token that an answer gave out is the
token of the calls after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import quote_plus, unquote_plus

from sendbox.engine.kinds.masking import KEYS, OPENING, OWN, SECRETS, SHORTEST, Mask
from sendbox.engine.texts import regex
from sendbox.interfaces import UPLOADS

#: A word in the name of a secret, and the rest of the name. Bounds keep the time linear in the length of a text.
_WORDS: Final = (
    r"(?:(?:access|api|private|signing)[_-]?key|auth|cookie|credential|jwt|pass(?:code|phrase|w)|proof|pwd|secret|"
    r"session|signature|token)"
)
_IN_NAME: Final = regex(_WORDS)
_SECRET: Final = rf"{_WORDS}[\w.-]{{0,40}}"
_NAME: Final = regex(rf"[\w.-]{{0,40}}?{_SECRET}", re.IGNORECASE)
#: A name and its value in a form, in YAML, in an object that is not whole, and in an element or attribute of XML.
_QUOTE: Final = r"(?:\\*[\"']|&quot;|&#3[49];)?"
_NAMED: Final = regex(
    rf"({_SECRET}{_QUOTE}\s{{0,9}}[:=]\s{{0,9}}{_QUOTE})((?:[^\s\"'&,;<>}}\\]|\\[^\s\"'])+)", re.IGNORECASE
)
_ELEMENT: Final = regex(rf"(<[\w.:-]{{0,40}}?{_SECRET}(?:\s[^<>]*)?>\s*(?:<!\[CDATA\[)?)([^<\]]+)", re.IGNORECASE)
#: A part of a form with several parts.
_PART: Final = regex(
    rf"(name=\"?[\w.-]{{0,40}}?{_SECRET}\"?(?:\r?\n[^\r\n]+){{0,5}}\r?\n\r?\n)([^\r\n]+)", re.IGNORECASE
)
#: A text, or the value of a parameter, that is encoded; it may be an address, or JSON.
_ENCODED: Final = regex(r"(?:(?<==)|\A)[^&#\s\"'<>\\]*%[^&#\s\"'<>\\]*")
_BEARER: Final = regex(r"((?:bearer|basic) )([\w.~+/=-]{8,})", re.IGNORECASE)
_JWT: Final = regex(r"(?<![\w-])()(ey[\w-]{8,}\.[\w-]{8,}\.[\w-]*)")
#: Addresses whose last part lets anybody in: uploads, and the pages of signups.
_OPEN: Final = regex(
    rf"((?:{'|'.join(re.escape(path) for path in (*(row.path.partition('{')[0] for row in UPLOADS), '/signup/'))}))"
    r"([\w~-]{16,})"
)
#: The patterns of secrets behind something else, each with what every such text has in it.
_PATTERNS: Final = (("<", _ELEMENT), ("ame=", _PART), (" ", _BEARER), ("ey", _JWT), ("/", _OPEN))
#: A code that proves who asks; others, such as that of a coupon, are values as all.
_CODE: Final = regex(r"\d{4,10}|\S{16,}")
#: The field of an answer that lists API keys (A32).
_KEYS_IN_ANSWERS: Final = "list"
#: Headers that are written as they are.
_HEADERS: Final = OWN - {"x-request-signature"} | frozenset(
    "accept accept-encoding accept-language age allow cache-control connection content-encoding content-language "
    "content-length date expires host last-modified retry-after server transfer-encoding vary".split()
)
_WORD: Final = regex(r"\w+(?:[~.-]+\w+)*")
#: The beginning of a secret that is no part of it: `ey` of a JWT, and of a key of Sendbox `test-`.
_BEGINNING: Final = regex(r"test-|ey(?=[\w-]+\.[\w-]+\.)")
_HIDDEN: Final = regex(r"[^._:-]")
#: So many words are remembered; after that they begin anew, and equal secrets have two words.
MAX_WORDS: Final = 200_000
#: Values that were encoded more times than this are masked as a whole.
MAX_DEPTH: Final = 4
#: So many secrets are masked within words too.
MAX_ANYWHERE: Final = 1_000


class StandIns(Mask):
    """The words of a recording, by the secrets that they stand for."""

    user = "user"

    def __init__(self) -> None:
        super().__init__()
        self._words: dict[str, str] = {}
        self._issued: set[str] = set()
        #: secrets that are masked within words too: keys, and those that have other characters than words
        self._anywhere: dict[str, str] = {}
        #: how many times the text that is being masked was encoded
        self._depth = 0
        #: the number of secrets so far
        self.count = 0

    def secret(self, secret: str) -> str:
        """The word that stands for a secret: its form with zeros, and a number."""
        if not secret.strip() or secret in self._issued:
            return secret
        word = self._words.get(secret)
        if word is None:
            if len(self._words) >= MAX_WORDS:
                self._words.clear()
                self._issued.clear()
            self.count += 1
            word = self._words[secret] = _word(secret, self.count)
            self._issued.add(word)
            if not _WORD.fullmatch(secret):
                self._mask_anywhere(secret, word)
        return word

    def key(self, key: str) -> str:
        """The word that stands for an API key."""
        word = self.secret(key)
        if word != key:
            self._mask_anywhere(key, word)
        return word

    def _mask_anywhere(self, secret: str, word: str) -> None:
        if len(secret) >= SHORTEST:
            self._anywhere[secret] = word
            if len(self._anywhere) > MAX_ANYWHERE:
                del self._anywhere[next(iter(self._anywhere))]

    def parameter(self, match: re.Match[str]) -> str:
        """A name and its value as they stand in a query or a form, with the value masked."""
        return match[1] + self._named(match[1], unquote_plus(match[2]))

    def _named(self, name: str, value: str) -> str:
        return self.key(value) if "key" in name.lower() else self.secret(value)

    def header(self, name: str, value: str) -> str:
        """The value of a header: as it is, masked, or, of a header that nobody knows, left out."""
        if name in KEYS:
            return self.key(value)
        if name in _HEADERS:
            return self.text(value)
        if name in SECRETS or _NAME.fullmatch(name):
            return re.sub(r"[^\s;,=\"]+", lambda match: self.secret(match[0]), value)
        return "…"

    def field(self, value: object, name: str, keys: Iterable[str]) -> object:
        """The value of a field, masked."""
        if isinstance(value, str):
            if name == _KEYS_IN_ANSWERS:
                return self.key(value)
            if _NAME.fullmatch(name) and not ("callback" in name.lower() and value.startswith("http")):
                return self._named(name, value)
            if name == "code" and _CODE.fullmatch(value):
                return self.secret(value)
        elif _NAME.fullmatch(name) and "callback" not in name.lower():
            if isinstance(value, Mapping):
                return {key: self.field(item, name, keys) for key, item in value.items()}
            if isinstance(value, int | float) and not isinstance(value, bool):
                return 0
        masked = super().field(value, name, keys)
        if isinstance(masked, Mapping):
            return {self._mask_known(str(key)): item for key, item in masked.items()}
        return masked

    def text(self, text: str) -> str:
        """A text, masked: JSON, a form, XML, an address, or words."""
        if text.lstrip()[:1] in OPENING and (hidden := self.json(text)) is not None:
            return hidden
        masked = super().text(text)
        for sign, pattern in _PATTERNS:
            if sign in masked:
                masked = pattern.sub(self._second, masked)
        masked = self._mask_named(masked)
        if "%" in masked:
            masked = _ENCODED.sub(self._encoded, masked)
        return self._mask_known(self.address(masked))

    def _mask_named(self, text: str) -> str:
        """A text with the values behind names of secrets masked; to look for the names first is ten times as fast."""
        lower, pieces, end = text.lower(), list[str](), 0
        for name in _IN_NAME.finditer(lower if len(lower) == len(text) else text):
            match = _NAMED.match(text, name.start()) if name.start() >= end else None
            if match is not None:
                pieces += (text[end : match.start()], self.parameter(match))
                end = match.end()
        return "".join((*pieces, text[end:]))

    def _encoded(self, match: re.Match[str]) -> str:
        text = unquote_plus(match[0])
        if text == match[0]:
            return text
        if self._depth == MAX_DEPTH:
            return self.secret(match[0])
        self._depth += 1
        try:
            masked = self.text(text)
        finally:
            self._depth -= 1
        return match[0] if masked == text else quote_plus(masked)

    def _mask_known(self, text: str) -> str:
        """A text in which known secrets are masked wherever they stand."""
        for secret, word in self._anywhere.items():
            if secret in text:
                text = text.replace(secret, word)
        return _WORD.sub(self._known_word, text)

    def _known_word(self, match: re.Match[str]) -> str:
        return match[0] if len(match[0]) < SHORTEST else self._words.get(match[0], match[0])


def _word(secret: str, number: int) -> str:
    """An invented word in the form of a secret, unlike that of any other number."""
    beginning = _BEGINNING.match(secret)
    lead = "" if beginning is None else beginning[0]
    zeros = list(_HIDDEN.sub("0", secret[len(lead) :]))
    places = [place for place, char in enumerate(zeros) if char == "0"]
    digits = str(number)
    if len(places) < len(digits):
        return lead + digits
    for place, digit in zip(reversed(places), reversed(digits), strict=False):
        zeros[place] = digit
    return lead + "".join(zeros)
