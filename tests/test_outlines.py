"""What the bytes of files tell, by one process and by several."""

from __future__ import annotations

from pathlib import Path

import pytest

from dllint.code.language.modules import Module
from dllint.code.language.outlines import occurrences, outline, outlines, places, words
from dllint.code.language.watched import GATES

TEXTS = {
    "loader.py": b"from torch.utils.data import DataLoader\n\n\nclass Own(DataLoader):\n    pass\n",
    "dataset.py": b"class Images(torch.utils.data.Dataset[int], Base):\n    pass\n",
    "model.py": b"import torch\n\nforked = 'a fork'\n",
    "empty.py": b"",
    "old.py": b"# na\xefve\r\nprefork = 1\r\n",
}


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    for name, data in TEXTS.items():
        (tmp_path / name).write_bytes(data)
    return [str(tmp_path / name) for name in TEXTS]


@pytest.mark.parametrize("shares", [1, 2, 3, 8])
def test_however_many_processes_make_outlines_they_are_the_same(paths: list[str], shares: int) -> None:
    assert outlines(paths, shares) == [outline(data) for data in TEXTS.values()]


def test_a_file_that_cannot_be_read_has_no_outline(paths: list[str]) -> None:
    found = outlines([*paths, paths[0] + ".gone"], 2)
    assert found[-1] is None and None not in found[:-1]


def test_an_outline_has_classes_with_the_last_names_of_their_bases() -> None:
    assert outline(TEXTS["dataset.py"]).class_bases == [("Images", ("Dataset", "Base"))]


def test_texts_behind_a_gate_all_hold_it() -> None:
    assert all(gate in text for gate, texts in GATES.items() for text in texts)
    assert outline(b"loader = DataLoader(x)\nset_start_method('spawn')").held >= {
        b"oader",
        b"DataLoader",
        b"set_start_method",
    }


def module(data: bytes) -> Module:
    return Module("m.py", "/m.py", "m", is_package=False, data=data, is_target=True)


@pytest.mark.parametrize("asked", [0, 20], ids=["searched", "taken apart"])
def test_a_module_holds_whole_words_and_has_parts_of_them(asked: int) -> None:
    read = module(TEXTS["old.py"])
    for number in range(asked):
        assert not read.holds(b"word%d" % number)
    assert ("words" in vars(read)) is bool(asked)
    assert read.holds(b"prefork") and not read.holds(b"fork") and read.has(b"fork")
    assert {b"prefork", b"1"} <= words(read.data)


def test_a_file_is_read_when_its_text_is_needed() -> None:
    reads: list[bytes] = []

    def read() -> bytes:
        reads.append(TEXTS["model.py"])
        return reads[-1]

    late = Module("m.py", "/m.py", "m", is_package=False, data=read, is_target=True)
    late.outline = outline(TEXTS["model.py"])
    assert late.has(b"fork") and not late.has(b"DataLoader") and not reads
    assert late.has(b"import torch") and late.has(b"forked") and len(reads) == 1


@pytest.mark.parametrize("name", TEXTS)
def test_words_stand_where_a_search_finds_them(name: str) -> None:
    known = places(TEXTS[name])
    assert known.keys() == words(TEXTS[name])
    assert all(list(occurrences(TEXTS[name], word)) == at for word, at in known.items())


def test_a_file_that_is_searched_often_answers_as_before() -> None:
    text = b"".join(b"def build%d(a):\n    a.size%d = 1\n\n\nbuild%d(x)\n" % (n, n, n) for n in range(300))
    module = Module("a.py", "/a.py", "a", False, text, True)
    for number in range(300):
        assert module.lines_with(f"build{number}") == [5 * number + 1, 5 * number + 5]
        assert len(module.calls_of(f"build{number}")) == 1
        assert len(module.writes_of(f"size{number}")) == 1
        assert module.has(b".size%d =" % number) and not module.has(b".build%d =" % number)
