"""Dataclasses that are made when they are used: the same as those of `dataclasses`, and made late."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, field, fields, is_dataclass, replace
from dataclasses import dataclass as usual
from threading import Thread
from typing import Any, ClassVar

import pytest

from sendbox.engine.classes import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """Frozen, with a default, a field that is made, and one that is no argument."""

    KIND: ClassVar[str] = "point"

    x: int
    y: int = 2
    tags: tuple[str, ...] = field(default_factory=tuple, kw_only=True)
    sum: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sum", self.x + self.y)


@dataclass(frozen=True, slots=True)
class Named(Point):
    """With a field of its own, and another default."""

    y: int = 5
    name: str = "none"


@dataclass(slots=True)
class Box:
    """Not frozen, so not hashable."""

    items: list[int] = field(default_factory=list)
    label: str = "box"
    made: list[str] = field(default_factory=list, init=False)
    fixed: int = field(default=3, init=False)


@dataclass(slots=True, eq=False, repr=False)
class Plain:
    """Compared by identity, shown as any object."""

    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Worded:
    """Says itself how it is shown, compared and hashed."""

    word: str = "a"

    def __repr__(self) -> str:
        return self.word

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Worded)

    def __hash__(self) -> int:
        return 7


@dataclass(slots=True)
class Own:
    """Has an `__init__` of its own."""

    value: int

    def __init__(self) -> None:
        self.value = 4


@usual
class Base:
    """Made by `dataclasses`."""

    first: int


@dataclass(slots=True)
class Derived(Base):
    """Made here, of a base that was not."""

    second: int = 2


def test_arguments_and_defaults() -> None:
    """Fields by place and by name, with their defaults, in the order of the class and its bases."""
    assert (Point(1).y, Point(1, 3).y, Point(1).tags, Point(1, tags=("a",)).tags, Point(1).sum) == (2, 3, (), ("a",), 3)
    assert (Named(1).y, Named(1, 1, "n").name, Named(1).sum) == (5, "n", 6)
    assert (Derived(1).first, Derived(1, 3).second, Own().value) == (1, 3, 4)
    one, other = Box(), Box()
    assert one.items is not other.items
    assert (one.made, one.fixed, one.label) == ([], 3, "box")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Point(), "missing 1 required positional argument: 'x'"),  # type: ignore[call-arg]
        (lambda: Point(1, 2, ("a",)), "takes from 2 to 3 positional arguments but 4 were given"),  # type: ignore[call-arg]
        (lambda: Point(1, z=2), "unexpected keyword argument 'z'"),  # type: ignore[call-arg]
        (lambda: Worded("b"), "takes 1 positional argument but 2 were given"),  # type: ignore[call-arg]
    ],
)
def test_wrong_arguments_are_refused(make: Callable[[], object], says: str) -> None:
    """As by any function; the class is named."""
    with pytest.raises(TypeError, match=says):
        make()


def test_frozen() -> None:
    """Nothing is set or deleted, before the other methods are made and after."""
    point = Point(1)
    for _ in range(2):
        with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
            point.x = 2  # type: ignore[misc]
        with pytest.raises(FrozenInstanceError):
            del point.x
        hash(point)


def test_slots() -> None:
    """There is no place for anything else, and no slot twice."""
    with pytest.raises(AttributeError):
        Box().other = 1  # type: ignore[attr-defined]
    slots: Any = Named.__slots__
    assert slots == ("name",)
    assert Point.KIND == "point"


def test_equality_and_hash() -> None:
    """Of the fields that are compared, within one class; objects that can change have no hash."""
    assert Point(1) == Point(1, 2)
    assert Point(1) != Point(2)
    assert Point(1, 5) != Named(1)
    assert hash(Named(1)) == hash(Named(1, 5))
    assert Box([1]) == Box([1])
    assert Plain(1) != Plain(1)
    assert isinstance(hash(Plain(1)), int)
    assert (Worded() == Worded(word="b"), hash(Worded()), repr(Worded())) == (True, 7, "a")
    with pytest.raises(TypeError, match="unhashable"):
        hash(Box())


def test_shown() -> None:
    """With all fields, inherited ones first."""
    assert repr(Named(1)) == "Named(x=1, y=5, tags=(), sum=6, name='none')"
    assert repr(Plain(1)).startswith("<tests.engine.test_classes.Plain object")
    assert Point.__doc__ == "Frozen, with a default, a field that is made, and one that is no argument."


def test_what_dataclasses_can_do() -> None:
    """Its functions take objects and classes as their own."""
    assert [each.name for each in fields(Named)] == ["x", "y", "tags", "sum", "name"]
    assert asdict(Box([1])) == {"items": [1], "label": "box", "made": [], "fixed": 3}
    assert replace(Named(1), x=3) == Named(3)
    assert is_dataclass(Derived)
    for again in (copy.copy(Named(1)), copy.deepcopy(Named(1)), pickle.loads(pickle.dumps(Named(1)))):
        assert again == Named(1)


def test_fields_that_are_asked_for_first_change_nothing() -> None:
    """A class whose fields are asked for before its first object has the same arguments."""

    @dataclass(slots=True)
    class Late:
        made: list[int] = field(default_factory=list)
        other: int = 1

    @dataclass(slots=True)
    class Later(Late):
        KIND: ClassVar[str] = "later"
        more: int = 2

    assert [each.name for each in fields(Later)] == ["made", "other", "more"]
    assert (Late().made, Later([1], 2, 3).more, Later().other) == ([], 3, 1)


def test_positional_patterns() -> None:
    """A base is matched by its places too, though none of its objects was made."""

    @dataclass(frozen=True, slots=True)
    class Shape:
        size: int

    @dataclass(frozen=True, slots=True)
    class Square(Shape):
        pass

    match Square(3):
        case Shape(size):
            assert size == 3


def test_methods_are_made_at_their_first_use() -> None:
    """Until then the class has none of them; then those of `dataclasses`."""

    @dataclass(frozen=True, slots=True)
    class Fresh:
        x: int = 1

    before = Fresh.__init__, Fresh.__eq__, Fresh.__repr__
    rest = vars(Fresh)["__dataclass_fields__"]
    Fresh()
    assert Fresh.__init__ is not before[0]
    assert (Fresh.__eq__, Fresh.__repr__) == before[1:]
    assert Fresh() == Fresh()
    assert Fresh.__eq__ is not before[1]
    assert Fresh.__repr__ is not before[2]
    assert rest.__get__(None, Fresh) is vars(Fresh)["__dataclass_fields__"]  # a thread that came second


def test_several_threads_make_one_class() -> None:
    """Threads that make the first objects at the same time get objects of a whole class."""
    for _ in range(20):

        @dataclass(frozen=True, slots=True)
        class Shared:
            x: int = 1

        made: list[Any] = []
        threads = [Thread(target=lambda kind=Shared, made=made: made.append(repr(kind()))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {text.rpartition(".")[2] for text in made} == {"Shared(x=1)"}


def test_without_slots() -> None:
    """A class without slots is refused: `dataclasses` makes it."""
    with pytest.raises(TypeError, match="slots=False"):
        dataclass(slots=False)


def test_two_threads_may_make_the_first_object() -> None:
    """The one that comes second finds the method that the first one made."""

    @dataclass(slots=True)
    class Point:
        x: int

    first = Point.__init__
    made = Point(1)
    first(made, 2)
    assert made.x == 2
