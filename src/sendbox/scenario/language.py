"""The language of scenarios: its general keys, and what services bring. It compiles scenarios into blueprints, and
single rules and changes for control.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from msgspec.structs import replace

from sendbox.engine import bounds
from sendbox.engine.answer import JsonMapping, JsonObject
from sendbox.engine.blueprint import Blueprint, TimelineEntry, Written
from sendbox.engine.expect.expectation import Expectation
from sendbox.engine.expect.subjects import Subject
from sendbox.scenario import library, parse
from sendbox.scenario.keys.expect import NOT, compile_expectation
from sendbox.scenario.keys.faults import API_RULES, webhook_rules
from sendbox.scenario.keys.plan import compile_plan
from sendbox.scenario.keys.texts import LOCALE
from sendbox.scenario.keys.timeline import Happening, compile_timeline
from sendbox.scenario.keys.traffic import CallSpec, compile_counterexample, compile_receiver, compile_traffic
from sendbox.scenario.lint import reach, shadows
from sendbox.scenario.lint.linter import Linter, lint_durations, lint_spelling
from sendbox.scenario.model import SIZE, Node, Problem, ScenarioError, Source, errors, in_order, listed, problem, show
from sendbox.scenario.read import Scenarios, read
from sendbox.scenario.shape import Shape
from sendbox.scenario.values import COUNTRY, Reader, entries, items, text_of
from sendbox.scenario.vocabulary import Key, Vocabulary
from sendbox.scenario.write import standalone

#: The rules of calls, which the engine applies as those of deliveries.
API: Final = API_RULES.key(times=())
#: The values of single draws. It is compiled before all keys that generate texts.
PLAN: Final = Key("plan", compile_plan)
#: Keys of the schema that settle no part of a blueprint by themselves.
SETTINGS: Final = frozenset("sendbox name extends include seed locale clock digest coverage assume found".split())
#: The general kind of happening.
CLOCK: Final = Happening("clock")


class Language:
    """The language with the keys of these services, in this order.

    `subjects` are what a scenario may expect, `calls` what its traffic may call, `emulated` the operations that a rule
    may name. `compiled` are scenarios of the library that were compiled before. `assume` compiles the settings that the
    services share; `country` finds the calling code that national numbers of a scenario get.
    """

    def __init__(
        self,
        vocabularies: tuple[Vocabulary, ...],
        *,
        assume: Callable[[Node | None, Reader], object],
        country: Callable[[Node], Node | None],
        subjects: Mapping[str, Subject],
        calls: Mapping[str, CallSpec],
        emulated: tuple[str, ...],
        compiled: Mapping[str, Callable[[], Blueprint]] = MappingProxyType({}),
    ) -> None:
        legal = {name: (*subject.fields, *subject.words, NOT) for name, subject in subjects.items()}
        self.shape = Shape(*(item.schema for item in vocabularies), legal=legal)
        self._vocabularies = vocabularies
        self._assume = assume
        self._subjects = subjects
        #: what traffic may ask for, by name
        self.calls = calls
        self._country = country
        posted = {name: form for item in vocabularies for name, form in item.posted.items()}
        self._facts: JsonObject = {
            "emulated": emulated,
            "families": {word: means for item in vocabularies for word, means in item.families.items()},
        }
        self._library: dict[str, Blueprint] = {}
        self._compiled = compiled

        def expected(node: Node | None, reader: Reader) -> tuple[Expectation, ...]:
            return entries(node, reader, lambda item, reader: compile_expectation(item, reader, subjects))

        own = [key for item in vocabularies for key in item.keys]
        #: the keys of services, by name
        self.brought = {key.name: key for key in own}
        #: the keys that are compiled, by name, in that order
        self.keys = {
            key.name: key
            for key in (
                PLAN,
                *(key for key in own if not key.late),
                Key("timeline", lambda node, reader: compile_timeline(items(node), reader, self.happenings), times=()),
                *(key for key in own if key.late),
                Key("expect", expected, times=()),
                Key("traffic", lambda node, reader: compile_traffic(items(node), reader, calls, self._acts)),
                Key("receiver", lambda node, _: compile_receiver(items(node))),
                Key(
                    "counterexamples",
                    lambda node, reader: tuple(
                        compile_counterexample(item, reader, calls, self._acts) for item in items(node)
                    ),
                ),
                API,
                webhook_rules(posted).key(times=()),
            )
        }

    @cached_property
    def _acts(self) -> dict[str, dict[str, str]]:
        """The legal kinds of the arguments of each control operation that traffic may use, as the schema lists them."""
        operation = self.shape.schema["$defs"]["trafficControl"]["properties"]["operation"]
        arguments: dict[str, dict[str, str]] = operation["x-arguments"]
        return arguments

    @cached_property
    def happenings(self) -> dict[str, Happening]:
        """The kinds of entries of a timeline, in the order of the schema."""
        kinds = {
            happening.kind: happening for vocabulary in self._vocabularies for happening in vocabulary.happenings
        } | {CLOCK.kind: CLOCK}
        listed = self.shape.schema["$defs"]["happening"]["properties"]
        return {kind: kinds[kind] for kind in listed if kind in kinds}

    def load(
        self,
        source: Scenarios,
        *,
        name: str | None = None,
        paths: bool = True,
        env: Mapping[str, str] | None = None,
        sent: bool = False,
    ) -> Blueprint:
        """The blueprint of a scenario: a name of the library, a path, YAML text, or an object as JSON gives it.

        Or of a list of them: a later one overrides the earlier. `name` names a text or an object in messages, `env` has
        the values of `${NAME}`. With `paths` False only files of the library are read, and no environment, as for a
        scenario that comes over the network. One that was `sent` has smaller bounds (`engine/bounds.py`): whoever sends
        it does not pay for the memory. Raises `ScenarioError` with every problem. A scenario of the library is
        compiled once.
        """
        if isinstance(source, list) and len(source) == 1:
            source = source[0]
        shared = isinstance(source, str) and source in library.names()
        if shared and source in self._compiled:
            return self._compiled[str(source)]()
        if shared and source in self._library:
            return self._library[str(source)]
        if shared:
            name, paths, env = None, True, None
        blueprint, problems = self._compile(source, name, paths=paths, env=env, sent=sent)
        if (mistakes := errors(problems)) or blueprint is None:
            raise ScenarioError(mistakes)
        if shared:
            self._library[str(source)] = blueprint
        return blueprint

    def check(
        self,
        source: Scenarios,
        *,
        name: str | None = None,
        paths: bool = True,
        env: Mapping[str, str] | None = None,
        sent: bool = False,
    ) -> list[Problem]:
        """Every problem of a scenario, of shape and of meaning, by file and place; empty when there is none.

        Warnings are among them; `load` does not refuse a scenario because of warnings, nor because of an expectation
        that nothing can meet, for which the verdict fails.
        """
        return self._compile(source, name, paths=paths, env=env, lint=True, sent=sent)[1]

    def compile_rule(self, key: str, rule: JsonMapping, *, country: str | None = None, assume: object = None) -> Any:
        """One rule of a key as control takes it. Raises `ScenarioError`; places are paths.

        `country` and `assume` are the world's: the prefix of national numbers, and the settings of the assumptions.
        """
        form = self.keys[key].rules
        assert form is not None
        node, reader, problems = self._single(rule, form.definition, country)
        reader.assume = self._assume(None, reader) if assume is None else assume
        compiled = form.compile(node, reader)
        _raise_any(problems + reader.problems)
        return replace(compiled, place=None)

    def compile_patch(
        self, key: str, patch: JsonMapping, *, country: str | None = None, current: JsonMapping
    ) -> JsonObject:
        """The changes to the compiled value of a key, by name: only what the patch names. Raises `ScenarioError`;
        places are paths.

        `country` is the world's, `current` the value now.
        """
        compiling = self.keys[key].patch
        assert compiling is not None
        node, reader, problems = self._single(patch, key, country)
        changes = compiling(node, reader, current)
        _raise_any(problems + reader.problems)
        return changes

    def compile_happening(
        self, happening: JsonMapping, *, scenario: JsonMapping, start: int, assume: object
    ) -> TimelineEntry:
        """An entry of a timeline as control takes it. Raises `ScenarioError`; places are paths.

        `scenario` has what an entry reads of the scenario around it; `start` and `assume` are the world's.
        """
        root, _ = parse.from_object(scenario, Source("scenario"))
        node, reader, problems = self._single(happening, "happening", text_of(self._country(root)))
        reader.root, reader.start, reader.assume = root, start, assume
        entries = compile_timeline([node] if node.value else [], reader, self.happenings)
        _raise_any(problems + reader.problems)
        return replace(entries[0], place=None)

    def _single(self, value: JsonMapping, definition: str, country: str | None) -> tuple[Node, Reader, list[Problem]]:
        """A part that does not come from a file, checked against its definition in the schema."""
        node, problems = parse.from_object(value, Source("rule"))
        problems += self.shape.check(node, definition)
        return node, Reader(country=country or COUNTRY, **self._facts), problems

    def _compile(
        self,
        source: Scenarios,
        name: str | None,
        *,
        paths: bool,
        env: Mapping[str, str] | None,
        lint: bool = False,
        sent: bool = False,
    ) -> tuple[Blueprint | None, list[Problem]]:
        node, problems, origin = read(source, self.shape, name=name, paths=paths, env=env, sent=sent)
        if node is not None and sent and (crowd := self._crowd(node)) is not None:
            problems, node = [*problems, crowd], None
        if node is None:
            return None, in_order(problems)
        reader = Reader(
            country=text_of(self._country(node)) or COUNTRY,
            locale=text_of(node.get("locale")) or LOCALE,
            root=node,
            file=origin.file,
            **self._facts,
        )
        blueprint = self._blueprint(node, reader, name, origin)
        if isinstance(source, list | tuple) and len(source) > 1:
            blueprint = replace(blueprint, written=None)
        if lint or blueprint.expect:
            linter = Linter(node, blueprint, reader, [*problems, *reader.problems])
            doubts = [doubt for vocabulary in self._vocabularies for doubt in vocabulary.doubts]
            ruled = [key.name for key in self.keys.values() if key.rules is not None]
            expect = reach.expectations(linter, doubts, self._subjects, ruled)
            blueprint = replace(blueprint, expect=expect)
            if lint:
                self._lint(linter)
                problems += linter.warnings
        return blueprint, in_order([*problems, *reader.problems], origin.file)

    def _crowd(self, node: Node) -> Problem | None:
        """The problem of a scenario with more rules and entries of its other lists than may be sent."""
        counts = dict.fromkeys(self.keys, 0)
        for key in self.keys.values():
            for path in {(key.name,), *(rules.path for rules in key.lists)}:
                part = node.part(*path)
                counts[key.name] += 0 if part is None else len(part.items())
        if (count := sum(counts.values())) <= bounds.RULES:
            return None
        text = f"{count} rules and other entries of lists are too many to be sent; legal: up to {bounds.RULES}"
        return problem(node, SIZE, text, key=max(counts, key=counts.__getitem__), value=None)

    def _blueprint(self, node: Node, reader: Reader, name: str | None, origin: Source) -> Blueprint:
        for word, value in node.entries().items():  # the schema has the keys of all shipped services
            if word not in SETTINGS and word not in self.keys:
                message = f"{show(word)} is not a key of this language; it has: {listed(self.keys)}"
                reader.add_problem(value, "unknown-key", message)
        reader.assume = self._assume(node.get("assume"), reader)
        for key in self.brought.values():
            content = node.get(key.name)
            if key.assumes is not None and content is not None:
                reader.assume = key.assumes(content, reader)
        clock = (node.get("clock") or Node({}, origin, "$")).entries()
        start, rate, mode = clock.get("start"), clock.get("rate"), clock.get("mode")
        title, seed, digest = node.get("name"), node.get("seed"), node.get("digest")
        ignored = None if digest is None else digest.get("ignore")
        covered = None if (scope := node.get("coverage")) is None else scope.get("operations")
        reader.start = None if start is None or start.value is None else reader.instant(start)
        compiled = {key.name: key.compile(node.get(key.name), reader) for key in self.keys.values()}
        brought = {key: compiled.pop(key) for key in self.brought}
        return Blueprint(
            name=str(title.value) if title is not None else name or Path(origin.file).stem,
            seed=0 if seed is None else seed.value,  # type: ignore[arg-type] # an integer or text, by its shape
            mode=None if mode is None else mode.value,  # type: ignore[arg-type] # one of the three, by its shape
            start=reader.start,
            rate=1.0 if rate is None else float(rate.value),  # type: ignore[arg-type] # a number, by its shape
            compiled=brought,
            assume=reader.assume,
            digest_ignore=() if ignored is None else tuple(dict.fromkeys(str(item.value) for item in ignored.items())),
            coverage=reader.operations(covered, reader.emulated, "not an operation of an emulated interface") or (),
            source=standalone(node),
            written=_source_text(node.source),
            **compiled,
        )

    def _lint(self, linter: Linter) -> None:
        """Warns about a scenario that can be used, but probably says something else than was intended."""
        keys = self.keys.values()
        shadows.find(linter, [rules for key in keys for rules in key.lists])
        reach.timeline(linter, self.happenings)
        for vocabulary in self._vocabularies:
            for find in vocabulary.lints:
                find(linter)
        reach.find(linter, [key.name for key in keys if key.rules is not None], self._subjects)
        lint_durations(linter, {key.name: key.times for key in keys if key.times is not None})
        lint_spelling(linter, self.shape)


def _source_text(source: Source) -> Written | None:
    """The text of a scenario; that of the library need not be kept."""
    if source.text is None or source.folder == library.folder():
        return None
    return Written(source.file, source.text, source.folder is not None and Path(source.file).is_file())


def _raise_any(problems: list[Problem]) -> None:
    if problems:
        raise ScenarioError(in_order(problems))
