"""Links in a text, and their replacement by short ones (§2.1 `params._url`).

`full` replaces addresses that begin with `http://` or `https://`. `all` replaces bare domains too: a name whose last
label is a top-level domain, or that begins with `www.`, with its port and path. E-mail addresses are never links, and
punctuation at the end of a link is not part of it. The scan moves forward only, so its time is linear in the text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from sendbox.engine.texts import regex

#: Country-code top-level domains, and the general ones that are common enough to be meant.
_TOP_LEVEL_DOMAINS: Final = frozenset(
    "ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bv bw by bz ca cc "
    "cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga gb "
    "gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke "
    "kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp mq mr ms mt mu "
    "mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw "
    "sa sb sc sd se sg sh si sj sk sl sm sn so sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz "
    "ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw "
    "academy aero agency app asia bank bar bet bio biz blog cafe cat center city click cloud club coffee com company "
    "coop design dev digital edu email energy events example expert express fashion finance fit fun fund games gift "
    "global gov group guru health help host hotel info ink int invalid jobs land law life link live ltd market media "
    "mil mobi money museum name net news ngo one online org page parts pay photo plus post press pro pub rent report "
    "rest restaurant reviews sale school services shoes shop site social software solutions space sport store studio "
    "support systems taxi team tech tel test tips today tools top tours town travel video vip wang watch web website "
    "wiki win wine work works world wtf xxx xyz zone "
    "рф бел укр срб мкд мон бг қаз ею рус онлайн сайт ελ ευ հայ გე 中国 中國 香港 台湾 台灣 澳門 新加坡 "  # noqa: RUF001 - these are Cyrillic
    "한국 ไทย ভারত भारत இந்தியா امارات ایران السعودية مصر المغرب".split()
)
#: What a host cannot hold. Letters of every script can; `@` `+` `%` stay inside, so that e-mail addresses stay whole.
_DELIMITERS: Final = r"\s\x00-\x1f!\"#$&'()*,/:;<=>?\[\\\]^`{|}~«»\u2010-\u206f\u3000-\u303f\ue000-\uf8ff"
_WORD: Final = regex(rf"[^{_DELIMITERS}]+")
_TARGET: Final = r"[^\s\x00-\x1f<>\"«»\u201c-\u201f\ue000-\uf8ff]"
# Spelt out instead of IGNORECASE, which would make the large sets slow to compile and to match.
_HTTP: Final = "[Hh][Tt][Tt][Pp][Ss]?"
_FULL_LINK: Final = regex(rf"{_HTTP}://(?=[^{_DELIMITERS}.@+%-]|\[)(?:(?![,;|]{_HTTP}://){_TARGET})+")
_PORT_AND_PATH: Final = regex(rf"(?::[0-9]{{1,5}}(?![0-9]))?(?:[/?#](?:(?![,;|]{_HTTP}://){_TARGET})*)?")
_SCHEME: Final = regex(rf"{_HTTP}\Z")
#: Inside a word, no domain holds these; around a domain, those are punctuation.
_NEVER_IN_DOMAIN: Final = frozenset("@+%_")
_OUTER_PUNCTUATION: Final = "-.+%_"
_CLOSING: Final = {")": "(", "]": "[", "}": "{"}
_TRAILING: Final = frozenset(".,;:!?'`*|~\u2018\u2019\u201a\u2026") | _CLOSING.keys()


def shorten(text: str, kind: Literal["full", "all"], make: Callable[[str], str]) -> str:
    """The text with each link replaced by what `make` gives for its address (`http://` added to a bare one)."""
    if kind == "full":
        return _shorten_full(text, make) if "://" in text else text
    return _shorten_all(text, make) if "." in text or "://" in text else text


def _shorten_full(text: str, make: Callable[[str], str]) -> str:
    parts: list[str] = []
    copied = 0
    for match in _FULL_LINK.finditer(text):
        end = _end_of_link(text, match.start(), match.end())
        parts += (text[copied : match.start()], make(text[match.start() : end]))
        copied = end
    return "".join(parts) + text[copied:]


def _shorten_all(text: str, make: Callable[[str], str]) -> str:
    parts: list[str] = []
    copied = at = 0
    while match := _WORD.search(text, at):
        start, at = match.span()
        word = match.group()
        scheme = _SCHEME.search(word) if text.startswith("://", at) else None
        full = _FULL_LINK.match(text, start + scheme.start()) if scheme else None
        if full:
            start, at = full.span()
            end = _end_of_link(text, start, at)
            target = text[start:end]
        elif "." not in word:
            continue
        else:
            start += len(word) - len(word.lstrip(_OUTER_PUNCTUATION))
            end = at - len(word) + len(word.rstrip(_OUTER_PUNCTUATION))
            # After a slash it is a part of a path, or the host of a protocol that is not ours.
            if text[start - 1 : start] in ("/", "\\") or not _is_domain(text[start:end]):
                continue
            if end == at and (tail := _PORT_AND_PATH.match(text, end)):
                at = tail.end()
                end = _end_of_link(text, end, at)
            target = f"http://{text[start:end]}"
        parts += (text[copied:start], make(target))
        copied = end
    return "".join(parts) + text[copied:]


def _is_domain(name: str) -> bool:
    labels = name.lower().split(".")
    if len(labels) < 2 or len(name) > 253 or not _NEVER_IN_DOMAIN.isdisjoint(name):
        return False
    if not all(0 < len(label) < 64 and label[0] != "-" != label[-1] for label in labels):
        return False
    top_level = labels[-1]
    if top_level in _TOP_LEVEL_DOMAINS or top_level.startswith("xn--"):
        return True
    return labels[0] == "www" and len(labels) > 2 and len(top_level) > 1 and top_level.isalpha()


def _end_of_link(text: str, start: int, end: int) -> int:
    """The end of the link once punctuation is cut off; a bracket stays that has its partner inside the link."""
    surplus = {
        closing: text.count(closing, start, end) - text.count(opening, start, end)
        for closing, opening in _CLOSING.items()
    }
    while end > start and (last := text[end - 1]) in _TRAILING:
        if last in surplus:
            if surplus[last] <= 0:
                break
            surplus[last] -= 1
        end -= 1
    return end
