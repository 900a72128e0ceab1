"""Texts with gaps, as a scenario has them: what stands between the gaps, and what fills those.

A gap is `{{name}}`. Which names there are, the service knows that fills them; `FAKES` are those for which something is
invented: out of a pool that was made when the scenario was compiled, so that no world needs the library that invents,
and a choice is one draw.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from sendbox.engine.classes import dataclass

#: Gaps for which something is invented, by what follows `fake.`; each is a method of the same name in Faker.
FAKES: Final = {
    "first_name": "a first name",
    "first_name_female": "a woman's first name",
    "first_name_male": "a man's first name",
    "last_name": "a family name",
    "name": "a whole name",
    "user_name": "a login",
    "free_email": "an e-mail address at a free provider",
    "company": "the name of a company",
    "job": "an occupation",
    "city": "a city",
    "street_address": "a street and a number",
    "postcode": "a postal code",
    "country": "a country",
    "color_name": "a colour",
    "word": "a word",
    "sentence": "a sentence",
    "paragraph": "a few sentences",
}
#: How many of a kind are invented, in any version of the library, so that equal draws pick equal places.
POOL: Final = 256


class Gap(NamedTuple):
    """A gap that a message fills; `path` leads into its payload."""

    name: str
    path: tuple[str, ...] = ()


class Fake(NamedTuple):
    """A gap for something invented: its name, the locale, and the pool to draw from."""

    name: str
    locale: str
    pool: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """A text with gaps. `source` as it was written."""

    source: str
    parts: tuple[str | Gap | Fake, ...]

    @property
    def draws(self) -> bool:
        """True if some part of the text is invented."""
        return any(isinstance(part, Fake) for part in self.parts)
