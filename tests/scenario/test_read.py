"""Finding scenarios: by name, path, text or object, and what building on another one means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sendbox.scenario import library
from sendbox.scenario.model import ScenarioError
from sendbox.scenario.read import CHAIN, FILES, MAX_SCENARIO, Scenario
from tests.scenarios import check, load

LEGAL = ", ".join(library.names())


def write(folder: Path, **files: str) -> Path:
    """Writes scenarios, each with its first line, and gives the folder."""
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text("sendbox: 1\n" + text, "utf-8")
    return folder


def lines(source: Any, **options: Any) -> list[str]:
    """The problems of a scenario."""
    return [str(problem) for problem in check(source, **options)]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("sendbox: 1", id="one-line"),
        pytest.param("sendbox: 1\nname: sendbox\n", id="text"),
        pytest.param('{"sendbox": 1}', id="json-text"),
        pytest.param("# a comment\nsendbox: 1", id="comment-first"),
        pytest.param({"sendbox": 1}, id="object"),
    ],
)
def test_texts_and_objects(source: Any) -> None:
    """A text is recognized without being told apart from a name or a path."""
    assert load(source, name="given").compiled["attempts"] == ()
    assert load({"sendbox": 1}, name="given").name == "given"


def test_paths(tmp_path: Path) -> None:
    """A path is read as UTF-8, with or without a byte order mark, and names the scenario by its stem."""
    file = write(tmp_path, mine="seed: 7\n") / "mine.yaml"
    assert load(file).seed == 7
    assert load(str(file)).name == "mine"
    file.write_bytes(b"\xef\xbb\xbfsendbox: 1\nname: J\xc3\xa1ra\n")
    assert load(file).name == "Jára"


def test_the_library_by_path_is_the_library() -> None:
    """A file of the library is the same scenario by name and by path."""
    found, known = load(library.path("default")), load("default")
    assert [rule.key for rule in found.compiled["attempts"]] == [rule.key for rule in known.compiled["attempts"]]
    assert (found.name, found.compiled["account"], found.compiled["phones"]) == (
        known.name,
        known.compiled["account"],
        known.compiled["phones"],
    )


@pytest.mark.parametrize(
    ("expected", "source", "paths"),
    [
        pytest.param(
            '"defualt" is neither a scenario of the library nor a path; did you mean "default"?',
            "defualt",
            True,
            id="name",
        ),
        pytest.param(f'"xyz" is not a scenario of the library; legal: {LEGAL}', "xyz", False, id="name-without-paths"),
        pytest.param(
            f'"/etc/passwd" is a path, and this scenario came without a folder; legal: {LEGAL}',
            "/etc/passwd",
            False,
            id="path-without-paths",
        ),
        pytest.param(
            'gone.yaml:1:1: "gone.yaml" cannot be read: No such file or directory', "gone.yaml", True, id="no-file"
        ),
        pytest.param('$: {} does not say which language it is in; begin it with "sendbox: 1"', {}, True, id="empty"),
        pytest.param("scenario:1:1: [] is not a mapping that begins with sendbox: 1", "[]\n", True, id="list"),
        pytest.param(
            "scenario:2:1: null is not a mapping that begins with sendbox: 1; give it a value, or leave the key out",
            "---\n",
            True,
            id="mark-only",
        ),
        pytest.param('scenario:1:1: this is empty; a scenario begins with "sendbox: 1"', " ", True, id="nothing"),
        pytest.param(
            "scenario:1:10: 2 is not the version of the language, which is 1; legal: 1",
            "sendbox: 2",
            True,
            id="version",
        ),
        pytest.param(
            f"scenario:1:1: {MAX_SCENARIO + 12} characters are too many; at most {MAX_SCENARIO} are legal",
            "sendbox: 1\n#" + "x" * MAX_SCENARIO,
            True,
            id="too-long",
        ),
    ],
)
def test_what_cannot_be_found_or_read(expected: str, source: Any, paths: bool) -> None:
    """The refusal says what was looked for and what is legal."""
    assert lines(source, paths=paths) == [expected]
    with pytest.raises(ScenarioError) as error:
        load(source, paths=paths)
    assert str(error.value) == expected


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    """A file in another encoding is named with the first byte that does not fit."""
    file = tmp_path / "a.yaml"
    file.write_bytes(b"name: J\xe1ra")
    (problem,) = check(file)
    assert (problem.rule, problem.line) == ("file", 1)
    assert problem.message.endswith("is not UTF-8 at byte 7")


def test_a_scenario_builds_on_another(tmp_path: Path) -> None:
    """Its own rules come first, mappings are joined, everything else is its own word."""
    write(
        tmp_path,
        base="""
name: base
seed: 1
clock: {mode: real, rate: 2}
account: {credit: {eur: 5}, optout: [420777000001], senders: any}
attempts: [{name: theirs, then: sent}]
timeline: [{at: 1s, inbound: {channel: sms, from: 420777000001, body: theirs}}]
assume: {webhook_retry: [1s, 2s, 3s], nulls: absent}
""",
        mine="""
extends: base.yaml
clock: {mode: manual}
account: {optout: [420777000002], senders: {sms: [Acme]}}
attempts: [{name: mine, then: failed}]
assume: {webhook_retry: [5s]}
""",
    )
    found = load(tmp_path / "mine.yaml")
    assert (found.name, found.seed, found.mode, found.rate) == ("mine", 1, "manual", 2.0)
    assert found.compiled["account"].credit == 5_000_000
    assert found.compiled["account"].optout == {"420777000001", "420777000002"}
    assert found.compiled["account"].senders == {"sms": frozenset({"Acme"})}
    assert [rule.name for rule in found.compiled["attempts"]] == ["mine", "theirs"]
    assert [entry.what["body"] for entry in found.timeline] == ["theirs"]
    assert (found.assume.webhook_retry, found.assume.nulls) == ((5_000,), "absent")


def test_a_template_replaces_its_namesake(tmp_path: Path) -> None:
    """The nearer scenario's template wins by name and language; the same name in one file is a mistake."""
    template = "{name: otp, language: en, components: [{type: BODY, text: %s}]}"
    write(
        tmp_path,
        base=f"account: {{templates: [{template % 'old'}]}}\n",
        mine=f"extends: base.yaml\naccount: {{templates: [{template % 'new'}]}}\n",
    )
    (found,) = load(tmp_path / "mine.yaml").compiled["account"].templates
    assert found["components"][0]["text"] == "new"


def test_credit_of_another_currency_replaces_that_of_the_library() -> None:
    """A scenario on top of the default one may choose the other currency, with or without an amount."""
    assert (
        load("sendbox: 1\nextends: default\naccount: {currency: CZK}\n").compiled["account"].credit == 250_000_000_000
    )
    given = load("sendbox: 1\nextends: default\naccount: {currency: CZK, credit: {czk: 5}}\n").compiled["account"]
    assert (given.currency, given.credit) == ("CZK", 5_000_000)
    assert lines("sendbox: 1\nextends: default\naccount: {credit: {czk: 5}}\n", name="a.yaml") == [
        'a.yaml:3:19: {"czk":5} has no credit in EUR, the currency of the account; give eur, or give another "currency"'
    ]


def test_problems_of_a_parent_are_reported_in_its_file(tmp_path: Path) -> None:
    """A mistake has the place where it was made, and does not hide those of the scenario that was asked for."""
    write(tmp_path, base="seeds: 1\nattempts: [{then: [delivered]}]\n", mine="extends: base.yaml\nnam: x\n")
    found = check(tmp_path / "mine.yaml")
    assert [(Path(problem.file).name, problem.line, problem.rule) for problem in found] == [
        ("mine.yaml", 3, "unknown-key"),
        ("base.yaml", 2, "unknown-key"),
        ("base.yaml", 3, "transition"),
    ]


def test_a_parent_that_is_unreadable_or_no_scenario(tmp_path: Path) -> None:
    """What can be said about the scenario itself is still said."""
    write(tmp_path, mine="extends: base.yaml\nattempts: [{then: [delivered]}]\n", other="extends: gone.yaml\n")
    (tmp_path / "base.yaml").write_text("", "utf-8")
    assert [(Path(problem.file).name, problem.rule) for problem in check(tmp_path / "mine.yaml")] == [
        ("mine.yaml", "transition"),
        ("base.yaml", "empty"),
    ]
    (problem,) = check(tmp_path / "other.yaml")
    assert problem.message == f'"gone.yaml" is not a file: {tmp_path / "gone.yaml"} does not exist'


def test_paths_that_lead_to_no_file(tmp_path: Path) -> None:
    """Links in a circle, a name that is too long, one that no file can have, and a folder are problems, not errors."""
    loop, long = tmp_path / "loop.yaml", tmp_path / f"{'a' * 300}.yaml"
    loop.symlink_to(loop)
    (tmp_path / "folder.yaml").mkdir()
    why = {loop: "Too many levels of symbolic links", long: "File name too long"}
    for path, reason in why.items():
        assert [problem.message.endswith(f"cannot be read: {reason}") for problem in check(path)] == [True]
    for name in ("a\0b.yaml", "\ud800.yaml"):
        (problem,) = check(name)
        assert problem.message.endswith("is not the name of a file: it has a character that no file can have")
    endings = {"loop": "cannot be read as one", "a" * 300: "does not exist", "folder": "cannot be read as one"}
    for name, ending in {**endings, "a\\0b": "does not exist"}.items():
        write(tmp_path, mine=f'extends: "{name}.yaml"\n')
        (problem,) = check(tmp_path / "mine.yaml")
        assert problem.message.endswith(f".yaml {ending}")


def test_scenarios_that_build_on_themselves(tmp_path: Path) -> None:
    """A circle is refused with the way around it, a chain without end by its length."""
    write(tmp_path, a="extends: b.yaml\n", b="extends: a.yaml\n", c="extends: c.yaml\n")
    (problem,) = check(tmp_path / "a.yaml")
    assert problem.message == '"a.yaml" builds on itself: a.yaml -> b.yaml -> a.yaml'
    (problem,) = check(tmp_path / "c.yaml")
    assert problem.message == '"c.yaml" builds on itself: c.yaml -> c.yaml'
    write(tmp_path, **{f"n{number}": f"extends: n{number + 1}.yaml\n" for number in range(CHAIN + 1)})
    (problem,) = check(tmp_path / "n0.yaml")
    assert problem.message == f'"n{CHAIN}.yaml" is scenario {CHAIN + 1} of a chain; {CHAIN} are legal'


def test_a_scenario_from_afar_reads_no_files(tmp_path: Path) -> None:
    """Without paths, `extends` knows the library and nothing else, however the file is called."""
    write(tmp_path, secret="")
    path = str(tmp_path / "secret.yaml")
    text = f"sendbox: 1\nextends: {path}\n"
    assert not check(text)
    (problem,) = check(text, paths=False)
    assert (problem.line, problem.column) == (2, 10)
    assert "is a path, and this scenario came without a folder" in problem.message
    (problem,) = check({"sendbox": 1, "extends": "defalt"}, paths=False)
    assert str(problem) == '$.extends: "defalt" is not a scenario of the library; did you mean "default"?'
    assert not check({"sendbox": 1, "extends": "default"}, paths=False)


# --- include, and several at once


def rules(source: Any, **options: Any) -> list[str | None]:
    """The names of the rules of attempts, in the order in which they are asked."""
    return [rule.name for rule in load(source, **options).compiled["attempts"]]


def one(name: str, more: str = "") -> str:
    """A scenario with one rule and a setting, which has the rule's name."""
    return f"name: {name}\nseed: {name}\n{more}attempts: [{{name: {name}, then: sent}}]\n"


def test_a_scenario_includes_others(tmp_path: Path) -> None:
    """Their rules come after its own and before those that it extends; its own word wins, then that of the first."""
    write(
        tmp_path,
        base=one("base", "account: {currency: CZK, credit: {czk: 5}}\n"),
        first=one("first", "clock: {mode: manual}\n"),
        second=one("second", "clock: {mode: auto, rate: 2}\n"),
        mine="include: [first.yaml, second.yaml]\nextends: base.yaml\nattempts: [{name: mine, then: sent}]\n",
    )
    found = load(tmp_path / "mine.yaml")
    assert [rule.name for rule in found.compiled["attempts"]] == ["mine", "first", "second", "base"]
    assert (found.name, found.seed, found.mode, found.rate) == ("mine", "first", "manual", 2.0)
    assert found.compiled["account"].currency == "CZK"


def test_what_is_met_twice_counts_once(tmp_path: Path) -> None:
    """What several build on comes after all of them, whichever way it was met first."""
    write(
        tmp_path,
        base=one("base"),
        left=one("left", "extends: base.yaml\n"),
        right=one("right", "include: [base.yaml]\n"),
        mine=one("mine", "include: [base.yaml, left.yaml, right.yaml]\nextends: default\n"),
    )
    default = rules("default")
    assert rules(tmp_path / "mine.yaml") == ["mine", "left", "right", "base", *default]


def test_includes_are_relative_to_the_file_that_has_them(tmp_path: Path) -> None:
    """Each path begins in the folder of its own file; the library is known by name everywhere."""
    (tmp_path / "parts").mkdir()
    write(tmp_path / "parts", a=one("a", "include: [b.yaml]\n"), b=one("b"))
    write(tmp_path, mine=one("mine", "include: [parts/a.yaml, late-receipt]\n"))
    assert rules(tmp_path / "mine.yaml")[:4] == ["mine", "a", "b", "the receipt needs a quarter of an hour"]


def test_too_many_files(tmp_path: Path) -> None:
    """A scenario has a bounded number of files; the one beyond it is named where it is asked for."""
    many = {f"n{at}": one(f"n{at}") for at in range(FILES)}
    half = [f"n{at}.yaml" for at in range(FILES)]
    write(
        tmp_path,
        **many,
        more=f"include: [{', '.join(half[50:])}]\n",
        mine=f"include: [{', '.join(half[:50])}]\nextends: more.yaml\n",
    )
    (problem,) = check(tmp_path / "mine.yaml")
    assert (Path(problem.file).name, problem.rule) == ("more.yaml", "include")
    assert problem.message == f'"n{FILES - 2}.yaml" is file {FILES + 1} of this scenario; {FILES} are legal'


def test_includes_of_a_diamond_of_diamonds(tmp_path: Path) -> None:
    """Files that all include all that follow are read once each, not once for each way to them."""
    names = [f"n{at}" for at in range(CHAIN)]
    for at, name in enumerate(names):
        rest = ", ".join(f"{each}.yaml" for each in names[at + 1 :])
        write(tmp_path, **{name: one(name, f"include: [{rest}]\n")})
    assert rules(tmp_path / "n0.yaml") == names


def test_several_scenarios_are_joined(tmp_path: Path) -> None:
    """The later over the earlier: its rules are asked first, its settings win; what both extend comes last."""
    write(tmp_path, a=one("a", "extends: default\nclock: {rate: 2}\n"), b=one("b", "extends: default\n"))
    sources: list[Scenario] = [
        tmp_path / "a.yaml",
        str(tmp_path / "b.yaml"),
        {"sendbox": 1, "digest": {"ignore": ["payload.x"]}},
    ]
    found = load(sources)
    assert [rule.name for rule in found.compiled["attempts"]] == ["b", "a", *rules("default")]
    assert (found.name, found.seed, found.rate, found.digest_ignore) == ("b", "b", 2.0, ("payload.x",))
    assert load(["default", {"sendbox": 1}], name="mine").name == "mine"
    assert load(["late-receipt"]).name == load("late-receipt").name
    assert rules([tmp_path / "a.yaml", tmp_path / "a.yaml"]) == rules(tmp_path / "a.yaml")


def test_problems_of_several_have_their_places(tmp_path: Path) -> None:
    """Each is in its own file, and none hides another: not even one that is not there."""
    write(tmp_path, a="seeed: 7\n", b="attempts: [{then: deliverd}]\n")
    sources: list[Scenario] = [tmp_path / "a.yaml", tmp_path / "gone.yaml", tmp_path / "b.yaml", "sendbox: 1\nnam: x\n"]
    found = check(sources)
    assert [(Path(problem.file).name, problem.line) for problem in found] == [
        ("scenario 4", 2),
        ("a.yaml", 2),
        ("gone.yaml", 1),
        ("b.yaml", 2),
    ]
    assert [line.partition(";")[0] for line in lines(7)] == ['"7" is neither a scenario of the library nor a path']
    assert lines([]) == ["[] names no scenario; give at least one"]
    assert [str(problem) for problem in check(["defalt"], paths=False)] == [
        '"defalt" is not a scenario of the library; did you mean "default"?'
    ]


def test_a_scenario_from_afar_includes_the_library_only(tmp_path: Path) -> None:
    """What comes over the network includes no file, whatever it is called."""
    write(tmp_path, secret="")
    (problem,) = check(f"sendbox: 1\ninclude: [default, {tmp_path / 'secret.yaml'}]\n", paths=False)
    assert (problem.rule, problem.line, problem.column) == ("include", 2, 20)
    assert "is a path, and this scenario came without a folder" in problem.message


# --- what is written out where it is included


def test_a_scenario_that_is_written_out(tmp_path: Path) -> None:
    """It is a scenario like one of another file: it builds on others, and may have its own version of a rule."""
    write(
        tmp_path,
        base=one("base"),
        mine=one(
            "mine",
            "include:\n- {sendbox: 1, name: x, seed: 7, extends: base.yaml, attempts: [{name: mine, then: sent}]}\n",
        ),
    )
    blueprint = load(tmp_path / "mine.yaml")
    assert [rule.name for rule in blueprint.compiled["attempts"]] == ["mine", "mine", "base"]
    assert (blueprint.name, blueprint.seed) == ("mine", "mine")
    assert check(tmp_path / "mine.yaml") == []


def test_one_within_another() -> None:
    """It may include others that are written out, and take values of the environment where the language has numbers."""
    inner = {
        "sendbox": 1,
        "include": [{"sendbox": 1, "clock": {"rate": "${RATE}"}}],
        "attempts": [{"name": "a", "then": "sent"}],
    }
    given = {"sendbox": 1, "include": [inner], "attempts": [{"name": "a", "then": "failed"}]}
    blueprint = load(given, env={"RATE": "2"})
    assert (blueprint.rate, len(blueprint.compiled["attempts"])) == (2.0, 2)


def test_problems_of_one_that_is_written_out() -> None:
    """They have their place in the text; one from afar includes no file by this way either."""
    text = (
        "sendbox: 1\ninclude:\n- sendbox: 1\n  seeed: 1\n"
        "  attempts: [{name: a, then: sent}, {name: a, then: deliverd}]\n  extends: secret.yaml\n"
    )
    assert [(found.line, found.column, found.rule) for found in check(text, paths=False)] == [
        (4, 3, "unknown-key"),
        (5, 44, "name"),
        (5, 53, "enum"),
        (6, 12, "extends"),
    ]
