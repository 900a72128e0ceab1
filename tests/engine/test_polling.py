"""Polls while time stands."""

from __future__ import annotations

from sendbox.engine.commands.record import MANY, MAX_QUESTIONS, Polling


def ask(polling: Polling, times: int, question: bytes = b"q", answer: bytes = b"a", instant: int = 0) -> list[bool]:
    return [polling.asked(instant, question, answer) for _ in range(times)]


def test_one_remark_after_many_equal_answers() -> None:
    """The twentieth equal answer at one instant is remarked on, once a world."""
    polling = Polling()
    assert ask(polling, MANY + 5) == [False] * (MANY - 1) + [True] + [False] * 5
    assert ask(polling, MANY, question=b"other") == [False] * MANY


def test_another_answer_begins_anew() -> None:
    """A change in the answer, or a move of the clock, is news."""
    polling = Polling()
    ask(polling, MANY - 1)
    assert ask(polling, 1, answer=b"b") == [False]
    ask(polling, MANY - 2, answer=b"b")
    assert ask(polling, 1, instant=1, answer=b"b") == [False]
    assert ask(polling, MANY - 1, instant=1, answer=b"b")[-1]


def test_few_questions_are_remembered() -> None:
    """What was not asked for long is forgotten, so the state stays small."""
    polling = Polling()
    ask(polling, MANY - 1)
    for number in range(MAX_QUESTIONS):
        ask(polling, 1, question=b"%d" % number)
    assert ask(polling, 1) == [False]
