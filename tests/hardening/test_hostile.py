"""Programs that are deep, circular or unreadable: no recursion ends a run, no cycle keeps it going."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from clock import limit
from dllint.code.apis.handles import HANDLE_WRAPPERS, HANDLES
from harness import run, workspace
from survival import PREAMBLE, SENTINEL, survives

PROGRAMS = sorted((Path(__file__).parent / "hostile").glob("*.py"))

DATASET = """
import torch
from torch.utils.data import DataLoader, Dataset

class Samples(Dataset):
    def __init__(self):
        self.data = {value}
    def __getitem__(self, i):
        return self.data, helper(i)
    def __len__(self):
        return {value}

def helper(i):
    return {value}

if __name__ == "__main__":
    for batch in DataLoader(Samples(), num_workers={value}, collate_fn={value}):
        pass
"""

DEEP = {
    "sum": "+".join(["a"] * 20_000),
    "attribute": "a" + ".b" * 20_000,
    "calls": "a" + "()" * 5_000,
    "subscripts": "a" + "[0]" * 5_000,
    "parentheses": "(" * 150 + "a" + ")" * 150,
    "too many parentheses": "(" * 5_000 + "a" + ")" * 5_000,
    "lambdas": "lambda: " * 80 + "0",
    "nots": "not " * 5_000 + "a",
    "minuses": "-" * 5_000 + "1",
    "conditions": "a if b else " * 1_000 + "c",
    "lists": "[" * 90 + "]" * 90,
    "dictionary": "{" + ", ".join(f"'{i}': a" for i in range(20_000)) + "}",
    "string": "'" + "x" * 1_000_000 + "'",
    "number": "9" * 100_000,
    "negative": "-1",
    "hexadecimal": "0x" + "f" * 4_000,
    "strings": " ".join(["'a'"] * 5_000),
    "and": " and ".join(["a"] * 5_000),
    "comparisons": " < ".join(["a"] * 5_000),
}


@pytest.mark.parametrize("value", DEEP.values(), ids=DEEP.keys())
def test_deep_expressions(value: str) -> None:
    survives(DATASET.format(value=value).encode())


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.stem for program in PROGRAMS])
def test_circular_programs_end(program: Path) -> None:
    survives(program.read_bytes())


OF_ITSELF = """
import {module}

def make(x):
    x = {call}(x)
    make(x)
    make({call}(x))
    return x

class Data(Dataset):
    def __init__(self, x):
        self.x = make(x)
        self.y = {call}(self.y)
        self.z = {call}(x, self.z)
    def reset(self):
        self.x = {call}(self.x)
        self.z = Data({call}(self.z))
    def __getitem__(self, i):
        self.reset()
        return make(self.z)[i], self.x.read(i), torch.ones(2).to(self.y)

def main(x):
    x = {call}(x)
    data = {call}(Data(x))
    loader = {call}(DataLoader(data, num_workers=make(make(x)), collate_fn=make(x), sampler=make(data)))
    for batch in loader:
        batch.to(make(x))
    main(loader)
    torch.multiprocessing.start_processes(main, args=(make(x),), nprocs=make(2), start_method=make("fork"))

if __name__ == "__main__":
    main({call})
"""
CALLS = sorted({*HANDLES, *HANDLE_WRAPPERS, "torch.device", "torch.Generator", "copy.deepcopy", "functools.partial"})


@pytest.mark.parametrize("call", CALLS)
def test_calls_of_what_they_return_end(call: str) -> None:
    survives(PREAMBLE + OF_ITSELF.format(module=call.partition(".")[0], call=call).encode())


def chain(count: int, line: str) -> str:
    """`count` lines, each of which names the next."""
    return "\n".join(line.format(i=i, next=i + 1) for i in range(count))


def worker(body: str) -> str:
    """A dataset whose `__getitem__` calls f0, after the functions of `body`."""
    dataset = "class A(Dataset):\n    def __getitem__(self, i): return f0(i)\n"
    return f"{body}\n{dataset}DataLoader(A(), num_workers=2)"


def nested(head: str, depth: int) -> str:
    """Blocks within blocks, with a loader in the innermost."""
    heads = "\n".join(" " * level + head for level in range(depth))
    return heads + "\n" + " " * depth + "DataLoader([1], num_workers=x)"


METHODS = chain(3_000, "    def m{i}(self): return self.m{next}()")
CLASSES = chain(3_000, "class A{next}(A{i}): pass")
VALUES = chain(60, "v{next} = v{i} if v{i} else max(v{i}, v{i})")
ARGUMENTS = chain(40, "def f{i}(x, n): return f{next}(x, n) or f{next}(n, x)")

BRANCH = "            n = max(row)\n" * 12_000

LONG = {
    "loaders": "DataLoader(data, num_workers=2)\n" * 3_000,
    "calls": worker(chain(3_000, "def f{i}(x): return f{next}(x)")),
    "methods": f"class B:\n{METHODS}\n" + worker("def f0(i): return B().m0()"),
    "inheritance": f"class A0(Dataset): pass\n{CLASSES}\nDataLoader(A3000(), num_workers=2)",
    "assignments": "v0 = 2\n" + chain(3_000, "v{next} = v{i}") + "\nDataLoader([1], num_workers=v3000)",
    "branches": "if x: n = 1\n" + chain(2_000, "elif x == {i}: n = {i}") + "\nDataLoader([1], num_workers=n)",
    "one comprehension again and again": worker("def f0(x):\n" + "    n = max(len(row) for row in x)\n" * 12_000),
    "one list made anew again and again": worker(
        "def f0(x):\n" + "    x = [row for row in x if row is not None]\n" * 10_000 + "    return x\n"
    ),
    "reads in one line": "import json\n" + worker(f"def f0(x):\n    {'; '.join(['json.load(open(x))'] * 6_000)}\n"),
    "one branch that is left": worker(
        f"def f0(x):\n    for row in x:\n        if row:\n{BRANCH}            continue\n    return n\n"
    ),
    "nested blocks": nested("if x:", 95),
    "nested functions": nested("def f():", 90),
    # Two ways lead on from each place: who follows all of them never ends.
    "forking calls": worker(chain(60, "def f{i}(x): return f{next}(f{next}(x))")),
    "forking values": f"v0 = 2\n{VALUES}\nDataLoader([1], num_workers=v60)",
    "forking arguments": f"{ARGUMENTS}\ndef f40(x, n): return DataLoader(x, num_workers=n)\nf0([1], 2)",
}


@pytest.mark.parametrize("body", LONG.values(), ids=LONG.keys())
def test_long_chains_end(body: str) -> None:
    survives(PREAMBLE + body.encode())


def test_import_cycles_between_files_end() -> None:
    with workspace() as folder:
        for here, there in (("a", "b"), ("b", "c"), ("c", "a")):
            imports = f"from {there} import *\nfrom {there} import Of_{there}\n"
            body = f"class Of_{here}(Of_{there}): pass\nfor x in DataLoader(Of_{here}(), num_workers=2): pass\n"
            (folder / f"{here}.py").write_text(PREAMBLE.decode() + imports + body)
        with limit():
            report = run(folder, ["ALL"])
    assert not report.errors


@pytest.mark.parametrize(
    "data",
    [
        PREAMBLE + b"print 'python 2'\n",
        PREAMBLE + b"x = '\xe9'\n",
        PREAMBLE + b"x = 1\0\n",
        b"# -*- coding: no-such-codec -*-\n" + PREAMBLE,
        PREAMBLE.decode().encode("utf-16"),
        PREAMBLE + b"def f(:\n",
    ],
    ids=["python 2", "wrong encoding", "nul", "unknown encoding", "utf-16", "syntax"],
)
def test_a_file_that_cannot_be_read_is_reported(data: bytes) -> None:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        # Nothing in it reads as Python to dllint, unless somebody names the file.
        survives(data)
        return
    assert survives(data) == {"DLL001"}


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + SENTINEL.encode(),
        SENTINEL.replace("\n", "\r\n").encode(),
        SENTINEL.replace("\n", "\r").encode(),
        b"# -*- coding: latin-1 -*-\n# \xe9\n" + SENTINEL.encode(),
        b"\t\n\x0c\n" + SENTINEL.encode(),
        SENTINEL.encode().rstrip(b"\n"),
    ],
    ids=["byte order mark", "crlf", "cr", "latin-1", "form feed", "no last newline"],
)
def test_unusual_texts_are_still_read(data: bytes) -> None:
    assert survives(data) == {"DLL402"}


BASES = {
    "a cycle under a name that is bound again": """
class A(B): pass
class B(A): pass
class A(A, B, Dataset): pass
""",
    "an order that contradicts itself": "class A0(Dataset): pass\nclass B0(Dataset): pass\n"
    + "".join(f"class A{i + 1}(A{i}, B{i}): pass\nclass B{i + 1}(B{i}, A{i}): pass\n" for i in range(40))
    + "A = A40\n",
    "two bases a class": "class A0(Dataset): pass\nclass B0(Dataset): pass\n"
    + "".join(f"class A{i + 1}(A{i}, B{i}): pass\nclass B{i + 1}(A{i}, B{i}): pass\n" for i in range(40))
    + "A = A40\n",
}


@pytest.mark.parametrize("bases", BASES.values(), ids=BASES.keys())
def test_tangled_inheritance(bases: str) -> None:
    program = f"from torch.utils.data import DataLoader, Dataset\n{bases}\nDataLoader(A(), num_workers=2)\n"
    survives(program.encode())


def test_a_file_name_that_is_no_unicode_costs_no_finding() -> None:
    with workspace() as folder:
        name = os.fsdecode(os.fsencode(folder) + b"/bad\xff.py")
        with open(name, "w", encoding="utf-8") as stream:
            stream.write(SENTINEL)
        report = run(folder)
    assert not report.errors
    assert report.findings


def test_an_instruction_of_a_hundred_thousand_rows_ends() -> None:
    rows = "    --mount=type=cache,target=/root/.cache,sharing=locked \\\n" * 100_000
    survives(f"FROM pytorch/pytorch\nRUN {rows}    python train.py\n".encode(), "Dockerfile")


@pytest.mark.parametrize("blank", [" ", "\t", "\n", "\r\n", "[", "[ "])
def test_a_requirement_that_never_ends(blank: str) -> None:
    survives(f"torch{blank * (50_000 // len(blank))}\n".encode(), "requirements.txt")


def test_variables_that_double_end() -> None:
    with workspace() as folder:
        (folder / "Dockerfile").write_text("FROM pytorch/pytorch\n" + "ENV A=$A$A\n" * 60 + "CMD python train.py\n")
        with limit():
            report = run(folder)
    assert not report.errors
