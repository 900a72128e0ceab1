"""Polls while time stands."""

from __future__ import annotations

from sendbox.engine.polls import MANY, REMEMBERED, Polls


def ask(polls: Polls, times: int, question: bytes = b"q", answer: bytes = b"a", instant: int = 0) -> list[bool]:
    return [polls.asked(instant, question, answer) for _ in range(times)]


def test_one_remark_after_many_equal_answers() -> None:
    """The twentieth equal answer at one instant is remarked on, once a world."""
    polls = Polls()
    assert ask(polls, MANY + 5) == [False] * (MANY - 1) + [True] + [False] * 5
    assert ask(polls, MANY, question=b"other") == [False] * MANY


def test_another_answer_begins_anew() -> None:
    """A change in the answer, or a move of the clock, is news."""
    polls = Polls()
    ask(polls, MANY - 1)
    assert ask(polls, 1, answer=b"b") == [False]
    ask(polls, MANY - 2, answer=b"b")
    assert ask(polls, 1, instant=1, answer=b"b") == [False]
    assert ask(polls, MANY - 1, instant=1, answer=b"b")[-1]


def test_few_questions_are_remembered() -> None:
    """What was not asked for long is forgotten, so the state stays small."""
    polls = Polls()
    ask(polls, MANY - 1)
    for number in range(REMEMBERED):
        ask(polls, 1, question=b"%d" % number)
    assert ask(polls, 1) == [False]
