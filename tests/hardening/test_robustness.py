"""Property tests: whatever stands in a file, dllint ends soon, without an internal error, and reports the others."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import json.decoder
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness import FIXTURES, split_labels
from survival import PREAMBLE, survives

fuzz = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)


def seeds() -> list[bytes]:
    """Real programs to break: some of the standard library, and the fixtures, which reach every rule."""
    modules = [argparse.__file__, dataclasses.__file__, json.decoder.__file__, ast.__file__]
    # The head of a long module is enough, and keeps a run short.
    library = [Path(str(name)).read_bytes()[:12_000] for name in modules]
    fixtures = [split_labels("", path.read_bytes())[1] for path in sorted(FIXTURES.rglob("*.py"))]
    return library + fixtures


SEEDS = seeds()


@fuzz
@given(st.binary(max_size=400))
def test_random_bytes(data: bytes) -> None:
    survives(data)


@fuzz
@given(st.binary(max_size=200))
def test_random_bytes_that_matter_to_dllint(data: bytes) -> None:
    survives(PREAMBLE + data)


@fuzz
@given(st.sampled_from(SEEDS), st.integers(0, 12_000))
def test_truncated_programs(seed: bytes, length: int) -> None:
    survives(PREAMBLE + seed[: length % (len(seed) + 1)])


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A program with some of its bytes cut out, doubled, or put elsewhere."""
    data = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 4))):
        start, end = sorted(draw(st.tuples(st.integers(0, len(data)), st.integers(0, len(data)))))
        piece = data[start:end]
        data = draw(
            st.sampled_from(
                [
                    data[:start] + data[end:],
                    data[:end] + piece[:400] + data[end:],
                    data[:start] + draw(st.binary(max_size=8)) + data[start:],
                    piece + data[:start] + data[end:],
                ]
            )
        )
    return PREAMBLE + data


@fuzz
@given(mutated())
def test_mutated_programs(data: bytes) -> None:
    survives(data)


class Scramble(ast.NodeTransformer):
    """Swaps names and constants: what comes out is valid Python that means something else, or nothing."""

    def __init__(self, words: list[str], draw: st.DrawFn) -> None:
        self.words = words
        self.draw = draw

    def word(self) -> str:
        return self.draw(st.sampled_from(self.words))

    def rarely(self) -> bool:
        return self.draw(st.integers(0, 9)) == 0

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.word(), node.ctx) if self.rarely() else node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return ast.Name(self.word(), ast.Load()) if self.rarely() else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        # The text between the braces of an f-string can be nothing but a constant.
        return ast.Name(self.word(), ast.Load()) if self.rarely() else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        return ast.Attribute(node.value, self.word(), node.ctx) if self.rarely() else node


def parses(program: bytes) -> bool:
    """Some fixtures do not parse, and mean it."""
    try:
        ast.parse(program)
    except (SyntaxError, ValueError):
        return False
    return True


SMALL = [seed for seed in SEEDS if len(seed) < 4_000 and parses(seed)]


@st.composite
def scrambled(draw: st.DrawFn) -> bytes:
    tree = ast.parse(draw(st.sampled_from(SMALL)))
    words = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}) or ["x"]
    return ast.unparse(Scramble(words, draw).visit(tree)).encode()


@fuzz
@given(scrambled())
def test_valid_programs_that_mean_something_else(data: bytes) -> None:
    # A scrambled f-string or pattern may not parse again; then it is one more broken file.
    survives(PREAMBLE + data)
