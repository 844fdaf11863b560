"""Which modules hold a word: the same whether they are searched for it or were taken apart."""

from __future__ import annotations

import pytest

from dllint.code.language.mentions import Mentions
from dllint.code.language.modules import Module

TEXTS = {"a": b"import h5py\nh5py.File(x)\n", "b": b"# of h5py_cache\n", "c": "größe = 1  # h5py".encode()}


def modules() -> list[Module]:
    return [Module(f"{n}.py", f"/{n}.py", n, is_package=False, data=text, is_target=True) for n, text in TEXTS.items()]


@pytest.mark.parametrize("asked", [0, 100], ids=["searched", "taken apart"])
@pytest.mark.parametrize(
    ("word", "holders"), [("h5py", "ac"), ("größe", "c"), ("gr", ""), ("h5py_cache", "b"), ("x", "a")]
)
def test_who_holds_a_word(asked: int, word: str, holders: str) -> None:
    mentions = Mentions(modules())
    for number in range(asked):
        assert not mentions.of(b"word%d" % number)
    assert "".join(module.name for module in mentions.of(word.encode())) == holders
