"""Every sentence of the specification is proved by a test or rests on an assumption, and thirty proofs are proved."""

from __future__ import annotations

import asyncio
import re
from collections import Counter

import pytest

from sendbox.services.assumptions import registry
from sendbox.services.messaging.content import tags
from sendbox.services.messaging.http.sending import steps
from tests.box import boxed
from tests.conformance import exchanges
from tests.traceability import sentences
from tests.traceability.sentences import SECTIONS, Sentence
from tests.traceability.switches import PROOFS

KNOWN = {row.id for row in registry()}


def test_sentence() -> None:
    """Each sentence is proved by a test, or rests on an assumption, and all that it names exist."""
    assert [sentence.id for sentence in sentences.load() if not sentence.tests and not sentence.assumed] == []
    missing = {sentence.id: unknown(sentence) for sentence in sentences.load()}
    assert {id_: names for id_, names in missing.items() if names} == {}


def unknown(sentence: Sentence) -> list[str]:
    """The tests and assumptions that a sentence names and that do not exist."""
    tests = [name for name in sentence.tests if not sentences.exists(name)]
    return tests + [id_ for id_ in sentence.assumed if id_ not in KNOWN]


def test_every_section_has_sentences() -> None:
    """No section is passed over, and none is made up."""
    assert {each.section for each in sentences.load()} == set(SECTIONS)


def test_every_assumption_has_a_sentence() -> None:
    """What is assumed stands beside what the specification says."""
    assert KNOWN - {id_ for each in sentences.load() for id_ in each.assumed} == set()


def test_ids_are_of_their_section_and_unique() -> None:
    """An id leads to one sentence, and says where it is from."""
    assert [id_ for id_, count in Counter(each.id for each in sentences.load()).items() if count > 1] == []
    for each in sentences.load():
        assert re.fullmatch(rf"s{each.section.replace('.', '_')}-[0-9]{{2}}", each.id), each.id


def test_what_does_not_exist_is_found() -> None:
    """A name that no test has is not a proof, nor is one that only begins like a case."""
    assert sentences.exists("test_sentence")
    assert not sentences.exists("test_of_nothing")
    assert not sentences.exists("test_exchange[s2_1-body-at-the]")


def test_each_sentence_that_was_drawn_has_a_switch() -> None:
    """Thirty are drawn, the same in every run, and proved by a case of their own or by one that they name."""
    drawn = {each.id: each for each in sentences.drawn()}
    assert len(drawn) == sentences.DRAWN
    assert PROOFS.keys() == drawn.keys()
    named = {case.name for case in exchanges.load()}
    for id_, proof in PROOFS.items():
        name = f"test_exchange[{exchanges.id_of(proof.case.section, proof.case.name)}]"
        assert name in drawn[id_].tests or proof.case.name not in named, id_


@pytest.mark.parametrize("id_", PROOFS)
def test_a_proof_fails_when_what_it_proves_is_switched_off(id_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The case of a sentence passes; with the behaviour turned off it does not, and nothing is broken otherwise."""
    proof = PROOFS[id_]
    assert asyncio.run(_outcome(proof.case)) == []
    with monkeypatch.context() as patch:
        proof.off(patch)
        _forget()
        found = asyncio.run(_outcome(proof.case))
    _forget()
    assert found
    assert [line for line in found if "status 500" in line] == []


_normalize = tags.normalize


def _forget() -> None:
    """What is remembered of earlier requests is read anew."""
    _normalize.cache_clear()
    steps._FLOWS.clear()


async def _outcome(case: exchanges.Case) -> list[str]:
    """What goes other than expected in a sandbox of its own, and what breaks the contract."""
    async with boxed() as box:
        found = await exchanges.run(case, box)
        found += box.runtime.violations
        box.runtime.violations.clear()
    return found
