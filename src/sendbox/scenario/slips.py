"""Slips that are made often: what is said about them, and the repaired text.

A row is about a line of YAML that cannot be read, or about a message on a value. A repaired line is shown only when
the text can be read with it: it is tried. Where none can, the message of the parser stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import orjson

from sendbox.engine.texts import regex

#: Longer lines are not shown, longer texts not tried.
MAX_LINE: Final = 200
MAX_TEXT: Final = 50_000

#: Makes a line of what was recognized; the lines before it are given, last one first. None: it cannot.
Repair = Callable[[re.Match[str], Sequence[str]], str | None]


class Slip(NamedTuple):
    """A row about lines: how one is recognized, with the slip as group `at`, what is said, and how it is repaired.

    `wrong` is an example, after `sendbox: 1`.
    """

    sign: re.Pattern[str]
    says: str
    repair: Repair
    wrong: str


class Hint(NamedTuple):
    """A row about values: how `path: message` of the problem begins, and what is said in addition, or was `meant`.

    `wrong` and `right` are examples, after `sendbox: 1` unless they say that themselves.
    """

    sign: re.Pattern[str]
    wrong: str
    right: str
    says: str = ""
    meant: str = ""


class Repaired(NamedTuple):
    """The repair of a line: its number from 1, the column of the slip, a message, and the line in readable form.

    `text` is empty if the repair does not make the whole line readable. `instead`: another remedy, for a line that may
    also have another meaning; None if it has no other meaning.
    """

    line: int
    column: int
    says: str
    text: str
    instead: str | None = None


#: What looks like the dash of an item.
_DASHES: Final = r"[\u2010-\u2014\u2212]"


def _quote(match: re.Match[str], _before: Sequence[str]) -> str:
    """The value in quotes that it does not contain; `text` is the value where it has quotes already."""
    value = match.groupdict().get("text") or match["at"]
    quoted = "'" + value.replace("'", "''") + "'" if set('"\\') & set(value) else f'"{value}"'
    return f"{match['before']}{quoted}{match['after']}"


def _turned(match: re.Match[str], _before: Sequence[str]) -> str:
    return f'{match["before"]}not: {{{match["key"]}: "{match["text"].strip()}"}}{match["after"]}'


def _closed(mark: str) -> Repair:
    return lambda match, _before: f"{match['before']}{match['at']}{mark}{match['after']}"


def _aligned(match: re.Match[str], before: Sequence[str]) -> str | None:
    """The line under its neighbour: a dash under a dash, a key under a key."""
    above = next((line for line in before if line.strip()), "")
    dash, text = re.match(r" *(?=- )", above), match["text"]
    if re.match(rf" *{_DASHES} ", above):
        return None  # it is wrong there
    if text.startswith("- "):
        return None if dash is None else f"{dash[0]}{text}"
    start = re.match(r"[ -]*", above)
    assert start is not None
    return f"{' ' * start.end()}{text}"


_KEY: Final = r"[\w.$-]+: +"
_AFTER_KEY: Final = rf" *(?:- +)*{_KEY}"


def _block(value: str, before: str = rf" *(?:(?:- +)+(?:{_KEY})?|{_KEY})") -> re.Pattern[str]:
    """A value at the end of a line, after a key or the dash of a list."""
    return regex(rf"(?P<before>{before})(?P<at>{value})(?P<after> *(?: #.*)?)")


def _flow(value: str) -> re.Pattern[str]:
    """A value between brackets."""
    return regex(rf"(?P<before>.*?[\[{{,:] *)(?P<at>{value})(?P<after> *[,}}\]].*)")


_FIRST: Final = r'"\g<first>" at the beginning of a text means something else in YAML; quote it'
_BRACKET: Final = "what begins with [ is a list; quote the text"
_GAP: Final = "{{ begins a mapping in YAML; quote the text"
_APOSTROPHE: Final = "a single quote inside single quotes ends the text; use double quotes"
BLANK: Final = "a blank must follow the colon"

SLIPS: Final = (
    Slip(
        regex(rf"(?P<before> *)(?P<at>{_DASHES})(?P<after> .*)"),
        "another dash begins an item",
        lambda match, _before: f"{match['before']}-{match['after']}",
        "expect:\n  \u2013 that: sends\n    count: 0\n",
    ),
    Slip(
        regex(r"(?P<before>.*\b(?:share|at_least|at_most): +)(?P<at>%(?P<text>[0-9.]+))(?P<after>.*)"),
        "the percent sign follows the number",
        lambda match, _before: f"{match['before']}{match['text']}%{match['after']}",
        "attempts: [{when: {share: %10}, then: failed}]\n",
    ),
    Slip(
        regex(
            r"(?P<before>.*?)(?P<key>\b(?:phone|tag|channel|sender|operation)): +"
            r"(?P<at>!(?P<text>[\w*.? -]+))(?P<after>.*)"
        ),
        'a condition is turned round by "not"',
        _turned,
        "attempts: [{when: {phone: !420*}, then: failed}]\n",
    ),
    Slip(_block(r"(?P<first>[*@%`&|>,]|!(?!!)).*?"), _FIRST, _quote, "name: *code*\n"),
    Slip(_block(r"(?P<first>[?-]) .*?", _AFTER_KEY), _FIRST, _quote, "name: - Monday\n"),
    Slip(_flow(r"(?P<first>[*@%`&|>]|!(?!!))[^,}\]]*?"), _FIRST, _quote, "attempts: [{name: @all, then: failed}]\n"),
    Slip(
        _block(r"\[[^\[\]{}]*\] *[^\s#\],}][^\[\]{}]*?"),
        _BRACKET,
        _quote,
        "attempts:\n  - then:\n      - failed:\n          info: [1] Undelivered\n",
    ),
    Slip(
        _flow(r"\[[^\[\]{}]*\] *[^\s,}\]][^,}\]]*?"),
        _BRACKET,
        _quote,
        "attempts: [{then: [{failed: {info: [1] Undelivered}}]}]\n",
    ),
    Slip(
        _block(r"\{\{[^{}]*\}\}[^{}]*?"),
        _GAP,
        _quote,
        "attempts:\n  - then: delivered\n    replies:\n      - body: {{body}} thanks\n",
    ),
    Slip(
        _flow(r"(?:[^\s{}\[\],\"':][^,:{}\[\]]*)?\{\{[^{}]*\}\}[^,{}\[\]]*?"),
        _GAP,
        _quote,
        "attempts: [{then: delivered, replies: [{body: {{body}}}]}]\n",
    ),
    Slip(
        _flow(r"[^\s{}\[\],\"':#][^,:{}\[\]\"']*? #[^,{}\[\]]*?"),
        "a # after a blank begins a comment; quote the text",
        _quote,
        "attempts: [{name: Account #1, then: failed}]\n",
    ),
    Slip(_block(r"'(?P<text>.*\w'\w.*)'"), _APOSTROPHE, _quote, "name: 'it's here'\n"),
    Slip(
        _flow(r"'(?P<text>[^',]*\w'\w[^',]*)'"), _APOSTROPHE, _quote, "attempts: [{name: 'it's here', then: failed}]\n"
    ),
    Slip(
        _block(r"\"[^\"]*\" *[^\s#].*?"),
        "the text goes on after its quotes; quote the whole",
        _quote,
        'name: "Monday" and Tuesday\n',
    ),
    Slip(
        _block(r"[^\s\"'{\[#][^\"]*?: [^\"]*?", _AFTER_KEY),
        'a text that holds ": " needs quotes',
        _quote,
        "name: Evening: the rush\n",
    ),
    Slip(
        regex(r"(?P<before> *(?:- +)*)(?P<at>[A-Za-z][\w-]*:)(?P<after>[^\s/].*)"),
        BLANK,
        _closed(" "),
        "seed: 7\nname:Monday\n",
    ),
    Slip(
        regex(r"(?P<before>[^\"]*(?:\"[^\"]*\"[^\"]*)*)(?P<at>\"[^\"]*?)(?P<after>[ }\],]*)"),
        "the quote that begins here does not end on its line",
        _closed('"'),
        'name: "The evening\nseed: 7\n',
    ),
    Slip(
        regex(r"(?P<before>[^']*(?:'[^']*'[^']*)*)(?P<at>(?<!\w)'[^']*?)(?P<after>[ }\],]*)"),
        "the quote that begins here does not end on its line",
        _closed("'"),
        "attempts: [{then: failed, name: 'lost}]\n",
    ),
    Slip(
        regex(r"(?P<before>.*)(?P<at>\{[^{}]*)(?P<after>)"),
        "the brace that begins here does not end on its line",
        _closed("}"),
        "attempts:\n  - when: {channel: sms\n    then: failed\n",
    ),
    Slip(
        regex(r"(?P<before>.*)(?P<at>\[(?:[^\[\]{}]|\{[^{}]*\})*)(?P<after>)"),
        "the bracket that begins here does not end on its line",
        _closed("]"),
        "attempts:\n  - then: [sending, failed\n  - then: sent\n",
    ),
    Slip(
        regex(r"(?P<at>[ \t]*\t[ \t]*)(?P<text>\S.*)"),
        "tabs cannot indent; use blanks",
        lambda match, _before: match["at"].replace("\t", "  ") + match["text"],
        "clock:\n\tmode: manual\n",
    ),
    Slip(
        regex(r"(?P<at> *)(?P<text>[^\s#].*)"),
        "the indentation is wrong: a key stands under its neighbours, and a dash under a dash",
        _aligned,
        "clock:\n  mode: manual\n   rate: 2\n",
    ),
)

_TEMPLATE: Final = "name: otp, category: UTILITY, components: [{type: BODY, text: Hello}]"
_COLON: Final = f"; {BLANK}: \\1: \\2"

HINTS: Final = (
    Hint(
        regex(r'\$\.sendbox: "1" is not'),
        'sendbox: "1"\n',
        "sendbox: 1\n",
        says="; it is a number, so write it without quotes: sendbox: 1",
    ),
    Hint(
        regex(r'.*?: "(\w+):([^\s/"][^"]*)" is not a (?:mapping|\w+ such as \{)'),
        "clock:\n  mode:manual\n",
        "clock:\n  mode: manual\n",
        says=_COLON,
    ),
    Hint(
        regex(r'.*\.(\w+): "([0-9.]+) ?%" is not a weight'),
        "attempts: [{mix: {delivered: 95%, failed: 5}}]\n",
        "attempts: [{mix: {delivered: 95, failed: 5}}]\n",
        says="; weights have no percent sign: \\1: \\2",
    ),
    Hint(
        regex(r".*: 0\.([0-9]{2}) is not a whole number, 0 or more, or a percentage"),
        "expect: [{that: sends, at_least: 0.99}]\n",
        "expect: [{that: sends, at_least: 99%}]\n",
        meant=r"\1%",
    ),
    Hint(
        regex(rf'\S+: \{{"{_DASHES} '),
        "expect:\n  \u2013 that: sends\n",
        "expect:\n  - that: sends\n",
        says="; another dash begins an item: -",
    ),
    Hint(
        regex(r'.*: "([0-9.]+) +%" is not a percentage'),
        "attempts: [{when: {share: 10 %}, then: failed}]\n",
        "attempts: [{when: {share: 10%}, then: failed}]\n",
        meant=r"\1%",
    ),
    Hint(
        regex(r".*\.fault: ([2-5][0-9]{2}) is not a fault"),
        "api: [{fault: 503}]\n",
        "api: [{fault: {status: 503}}]\n",
        says="; an answer is a mapping: {status: \\1}",
    ),
    Hint(
        regex(r'.*\.hours: "([0-9]{1,2}:[0-9]{2}) ?- ?([0-9]{1,2}:[0-9]{2})" is not hours such as \{'),
        'attempts: [{when: {hours: "09:00-17:00"}, then: failed}]\n',
        'attempts: [{when: {hours: {start: "09:00", end: "17:00"}}, then: failed}]\n',
        says='; they have a start and an end: {start: "\\1", end: "\\2"}',
    ),
    Hint(
        regex(r'.*\.payload\.(\w+): \{"(\w+)":([^{}\[\]…]*)\}'),
        "attempts: [{when: {payload: {order: {id: 1}}}, then: failed}]\n",
        "attempts: [{when: {payload: {order.id: 1}}, then: failed}]\n",
        says="; a field inside another is named by its path: \\1.\\2: \\3",
    ),
    Hint(
        regex(r"\$\.extends: (\[[^…]*\]) is not"),
        "extends: [default, otp-fallback]\n",
        'include: ["default","otp-fallback"]\n',
        says="; several stand under include: include: \\1",
    ),
    Hint(
        regex(r'.*: "UK" is not a country'),
        "attempts: [{when: {country: UK}, then: failed}]\n",
        "attempts: [{when: {country: GB}, then: failed}]\n",
        meant="GB",
    ),
    Hint(
        regex(r'.*: "[Ee]nglish" is not a language code'),
        f"account: {{templates: [{{language: english, {_TEMPLATE}}}]}}\n",
        f"account: {{templates: [{{language: en, {_TEMPLATE}}}]}}\n",
        meant="en",
    ),
    Hint(
        regex(r'.*: "([a-z]{2})-([A-Z]{2})" is not a language code'),
        f"account: {{templates: [{{language: pt-BR, {_TEMPLATE}}}]}}\n",
        f"account: {{templates: [{{language: pt_BR, {_TEMPLATE}}}]}}\n",
        meant=r"\1_\2",
    ),
)

#: What the text of a scenario looks like whose line breaks were lost.
_ONE_LINE: Final = regex(r"#.*sendbox: ?1|.*\bsendbox: ?1\D.*:")
LOST_BREAKS: Final = (
    "this text is a single line, as if its line breaks were lost; with curl send the file by --data-binary @FILE, "
    "because -d @FILE removes them"
)


def hint(path: str, message: str) -> tuple[str, str | None]:
    """A further remark about a value, and the value that was probably meant; for most values an empty text and None."""
    text = f"{path}: {message}"
    for row in HINTS:
        if (match := row.sign.match(text)) is not None:
            return match.expand(row.says), match.expand(row.meant) or None
    return "", None


def breaks_lost(text: str) -> bool:
    """True if an unreadable text looks like a scenario without its line breaks."""
    return "\n" not in text.strip() and bool(_ONE_LINE.match(text[:MAX_TEXT]))


def repair_text(text: str, places: Sequence[int], readable: Callable[[str, int], bool]) -> Repaired | None:
    """The first repair with which a text can be read, None if there is none.

    `places` are lines where something may be wrong, the likeliest first. `readable` says whether a text can be read as
    far as a line, and its old problem is gone.
    """
    if len(text) > MAX_TEXT:
        return None
    lines = text.splitlines()
    for number in dict.fromkeys((*places, *_odd(lines, places[0]))):
        line = lines[number - 1] if 0 < number <= len(lines) else ""
        for row in SLIPS if 0 < len(line) <= MAX_LINE else ():
            match = row.sign.fullmatch(line)
            better = None if match is None else row.repair(match, lines[number - 2 :: -1] if number > 1 else ())
            if match is None or better is None or better == line:
                continue
            if readable("\n".join([*lines[: number - 1], better, *lines[number:]]) + "\n", number):
                corrected = better.strip() if better.split() != line.split() else orjson.dumps(better).decode()
                says = match.expand(row.says)
                instead = "or quote it" if row.repair is _quote else says if row.repair is _turned else None
                return Repaired(number, match.start("at") + 1, says, corrected, instead)
    return None


def find_slip(text: str, number: int, column: int) -> Repaired | None:
    """The text without quotes that stands at a place whose line has more slips than this one."""
    line = next(iter(text.splitlines()[number - 1 : number]), "") if len(text) <= MAX_TEXT else ""
    for row in SLIPS if len(line) <= MAX_LINE else ():
        match = row.sign.fullmatch(line) if row.repair is _quote else None
        if match is not None and match.start("at") < column <= match.end("at") + 1:
            return Repaired(number, match.start("at") + 1, match.expand(row.says), "")
    return None


def _odd(lines: Sequence[str], last: int, most: int = 5) -> Iterator[int]:
    """The lines before a place in which a quote does not end, the nearest first."""
    for number in range(min(last, len(lines)), 0, -1):
        if most and any(lines[number - 1].count(mark) % 2 for mark in "\"'"):
            most -= 1
            yield number
