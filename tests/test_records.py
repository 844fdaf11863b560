"""Records behave as the dataclasses that type checkers take them for."""

from __future__ import annotations

import pickle

import pytest

from dllint.records import dataclass, field, replace


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A place, with one field that has a default."""

    row: int
    column: int = 1


@dataclass(slots=True)
class Notes:
    """What is noted, with a list of its own."""

    title: str
    lines: list[str] = field(default_factory=list)
    secret: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Named(Place):
    """A place with a name."""

    name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Token:
    """Told apart by identity alone."""

    text: str


def test_fields_are_set_by_position_by_name_and_by_default() -> None:
    assert (Place(3).row, Place(3).column, Place(3, column=4).column) == (3, 1, 4)


def test_a_missing_field_is_an_error() -> None:
    with pytest.raises(TypeError, match="row"):
        Place(**dict[str, int]())


def test_records_are_equal_by_their_fields_and_class() -> None:
    assert Place(1, 2) == Place(1, 2) != Place(2, 1)
    assert Place(1, 2) != Named(1, 2)
    assert len({Place(1, 2), Place(1, 2)}) == 1
    assert Token("a") != Token("a")


def test_one_that_can_change_has_no_hash() -> None:
    with pytest.raises(TypeError):
        hash(Notes("a"))


def test_order_is_that_of_the_fields() -> None:
    assert sorted([Place(2), Place(1, 3), Place(1, 2)]) == [Place(1, 2), Place(1, 3), Place(2)]


def test_each_object_has_a_list_of_its_own() -> None:
    first, second = Notes("a"), Notes("b")
    first.lines.append("x")
    assert second.lines == []


def test_repr_leaves_out_what_is_hidden() -> None:
    assert repr(Notes("a", ["x"], "hush")) == "Notes(title='a', lines=['x'])"


def test_replace_changes_some_fields() -> None:
    assert replace(Named(1, 2, "a"), row=5) == Named(5, 2, "a")


def test_records_pickle_and_have_slots() -> None:
    assert pickle.loads(pickle.dumps(Place(1, 2))) == Place(1, 2)
    assert not hasattr(Place(1), "__dict__")


def test_what_derives_from_a_record_sets_the_fields_of_both() -> None:
    """The `__init__` of each class is made when its first object is, in whatever order that happens."""

    @dataclass
    class Base:
        row: int

    @dataclass
    class Own(Base):
        name: str = "own"

    class Plain(Base):
        def __init__(self) -> None:
            super().__init__(5)

    assert (Own(1).row, Own(1, name="x").name, Plain().row, Base(2).row) == (1, "x", 5, 2)
