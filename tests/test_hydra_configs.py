"""The configs that Hydra puts together: each expectation is what `hydra.compose` of Hydra 1.3 gives."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from dllint.code.language import hydra_configs
from dllint.code.language.hydra_mains import overrides_in
from dllint.code.program import Program
from dllint.files import discover
from dllint.settings import Settings

FILES = {
    "config": "defaults: [data: images, optional local: mine, _self_]\nworkers: 2\n",
    "data/images": "defaults: [aug: crop]\nsize: 8\nnum_workers: ${workers}\n",
    "data/sounds": "size: 4\nnum_workers: 6\n",
    "data/aug/crop": "p: 1\n",
    "data/aug/flip": "p: 2\n",
    "experiment/large": "# @package _global_\ndefaults: [override /data: sounds]\nworkers: 16\ndata: {size: 64}\n",
}
SOUNDS = {"size": 4, "num_workers": 6}


def composed(folder: Path, command: str = "", **changed: str) -> Any:
    """The config as plain values, `...` for what is unknown; None where nobody sees how it is put together."""
    for name, text in {**FILES, **{name.replace("__", "/"): text for name, text in changed.items()}}.items():
        path = folder / "conf" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "train.py").write_text("", encoding="utf-8")
    (project,) = discover([str(folder)], Settings(), None)
    evaluator = Program(project, Settings()).evaluator
    config = hydra_configs.config_of(evaluator, str(folder / "conf"), "config", overrides_in(command.split()))
    return None if config is None else plain(config.held)


def plain(node: ast.expr | None) -> Any:
    if isinstance(node, ast.Dict):
        return {plain(key): plain(value) for key, value in zip(node.keys, node.values, strict=True)}
    return node.value if isinstance(node, ast.Constant) else ...


def test_groups_and_references(tmp_path: Path) -> None:
    assert composed(tmp_path) == {"data": {"aug": {"p": 1}, "size": 8, "num_workers": 2}, "workers": 2}


@pytest.mark.parametrize(
    ("command", "data"),
    [
        ("workers=5", {"aug": {"p": 1}, "size": 8, "num_workers": "5"}),
        ("data.num_workers=5", {"aug": {"p": 1}, "size": 8, "num_workers": "5"}),
        ("data=sounds", {"size": 4, "num_workers": 6}),
        ("data/aug=flip", {"aug": {"p": 2}, "size": 8, "num_workers": 2}),
        ("+experiment=large", {"size": 64, "num_workers": 6}),
        ("+experiment=large data=images", {"aug": {"p": 1}, "size": 64, "num_workers": 16}),
        ("+experiment=large workers=1 data=images", {"aug": {"p": 1}, "size": 64, "num_workers": "1"}),
        ("data=elsewhere", ...),
    ],
)
def test_what_the_command_chooses(tmp_path: Path, command: str, data: Any) -> None:
    assert composed(tmp_path, command)["data"] == data


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("defaults: [_self_, data: sounds]\ndata: {size: 1, b: 2}", {"data": {"size": 4, "b": 2, "num_workers": 6}}),
        ("defaults: [data: sounds, _self_]\ndata: {size: 1}", {"data": {"size": 1, "num_workers": 6}}),
        ("defaults: [data: sounds]\ndata: {size: 1}", {"data": {"size": ..., "num_workers": 6}}),
        ("defaults: [data@train: sounds, data@test: sounds]", {"train": SOUNDS, "test": SOUNDS}),
        ("defaults: [data@_global_: sounds]", SOUNDS),
        ("defaults: [data/sounds]", {"data": SOUNDS}),
        ("defaults: [data/sounds@fit.data]", {"fit": {"data": SOUNDS}}),
        ("defaults: [data: null, override hydra/launcher: basic]\na: 1", {"a": 1}),
        ("a: {b: 1}\nc: ${a.b}\nd: ${c}\ne: ${a}\nf: ${oc.env:F}", {"a": {"b": 1}, "c": 1, "d": 1, "e": ..., "f": ...}),
    ],
)
def test_defaults_lists(tmp_path: Path, config: str, expected: Any) -> None:
    assert composed(tmp_path, config=config) == expected


@pytest.mark.parametrize(
    "config",
    [
        "defaults: [config]",
        "defaults: [[data]]",
        "defaults: [data: [images, sounds]]",
        "defaults: [missing]",
        "defaults: [../../outside]",
        "- a\n- b",
        "a: [",
    ],
)
def test_what_is_not_followed_is_unknown(tmp_path: Path, config: str) -> None:
    assert composed(tmp_path, config=config) is None


@pytest.mark.parametrize("config", ["a: ${b}\nb: ${a}", "a: ${a}", "a: &x {b: 1}\nc: {<<: *x}\nd: ${c.b}"])
def test_references_in_a_circle_end(tmp_path: Path, config: str) -> None:
    assert composed(tmp_path, config=config) is not None


def test_a_package_counts_in_the_header_alone(tmp_path: Path) -> None:
    behind = "# a comment\n# @package _global_\nsize: 1\n"
    assert composed(tmp_path, config="defaults: [data: x]", data__x=behind) == {"data": {"size": 1}}
    within = "\n# @package _global_\n# a comment\nsize: 1\n"
    assert composed(tmp_path, config="defaults: [data: x]", data__x=within) == {"size": 1}


def test_a_long_chain_of_references_is_no_hang(tmp_path: Path) -> None:
    links = "".join(f"k{number}: ${{k{number + 1}}}\n" for number in range(3_000))
    assert composed(tmp_path, config=links + "k3000: 4\n")["k2999"] == 4
