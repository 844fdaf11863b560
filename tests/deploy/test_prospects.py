"""What the bytes of a project tell before a container is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plans import plan_of

from dllint.deploy.evidence import is_training_image
from dllint.deploy.prospects import TRAINERS, may_train
from dllint.syntax.python import CannotParseError
from dllint.syntax.yaml import documents, is_well_formed

IMAGES = """pytorch/pytorch:2.5 nvcr.io/nvidia/pytorch:24.05-py3 nvcr.io/nvidia/nemo:24.05 rocm/pytorch-nightly
    mosaicml/pytorch mosaicml/llm-foundry:2.5 mosaicml/composer ultralytics/ultralytics ultralytics/yolov5
    huggingface/transformers-gpu huggingface/accelerate-gpu deepspeed/deepspeed pytorchlightning/pytorch_lightning
    projectmonai/monai winglian/axolotl:main axolotlai/axolotl-cloud huggingface-pytorch-training:2.1
    quay.io/jupyter/pytorch-notebook gcr.io/deeplearning-platform-release/pytorch-gpu.2-3""".split()  # noqa: SIM905
COMMANDS = "torchrun deepspeed composer accelerate yolo nnUNetv2_train nnUNet_train torch.distributed.run".split()  # noqa: SIM905
BAD_YAML = ["services:\n\ta: b\n", "a: [1, 2\n", "a: 'x\n", "a: b: c\n", "a: *missing\n", "a: &x 1\nb: &x 2\n", "\0"]
GOOD_YAML = ["services:\n  a: {image: busybox}\n", "---\na: 1\n...\n---\nb: x && c\n", "cron: 0 3 * * *\n", ""]


@pytest.mark.parametrize("image", IMAGES)
def test_images_that_train_have_one_of_the_words(image: str) -> None:
    assert is_training_image(image)
    assert any(word in image.lower().encode() for word in TRAINERS)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_that_train_have_one_of_the_words(command: str) -> None:
    assert any(word in command.lower().encode() for word in TRAINERS)


@pytest.mark.parametrize(
    ("files", "may"),
    [
        ({"compose.yaml": "services:\n  web: {image: nginx}\n", "app.py": "print(1)\n"}, False),
        ({"compose.yaml": "services:\n  web: {image: pytorch/pytorch}\n"}, True),
        ({"compose.yaml": "services:\n  web: {image: '$IMAGE'}\n", ".env": "IMAGE=pytorch/pytorch\n"}, True),
        ({"compose.yaml": "services:\n  web: {image: '$IMAGE'}\n", ".env": "IMAGE=nginx\n"}, False),
        ({"Makefile": "up:\n\tdocker compose --env-file gpu.env up\n"}, True),
        ({"job.yaml": "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n"}, True),
        ({"Dockerfile": "FROM python\n", "run.py": "import docker\n"}, True),
        ({"Dockerfile": "FROM python\n", "t.py": "from torch.utils.data import DataLoader\nDataLoader([1])\n"}, True),
    ],
)
def test_a_project_may_train(tmp_path: Path, files: dict[str, str], may: bool) -> None:
    assert may_train(plan_of(tmp_path, files)) is may


@pytest.mark.parametrize("text", [*BAD_YAML, *GOOD_YAML])
def test_what_is_well_formed_can_be_read(text: str) -> None:
    try:
        list(documents(text))
    except CannotParseError:
        assert not is_well_formed(text)
    else:
        assert is_well_formed(text) or "&" in text or "*" in text


PIECES = [*"a:-,[]{}#|'", " ", "\n", "\t", "\x85", "*a", "&a", "*b", "? ", "!t", '"k"']


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
@settings(max_examples=1500, deadline=None)
def test_names_that_mean_nothing_are_never_taken_for_words(text: str) -> None:
    if is_well_formed(text):
        list(documents(text))


@pytest.mark.parametrize("text", ["a: is *not* done\n", "a: of\n  spec.containers[*].image\n", "a: f(**kwargs)\n"])
def test_stars_in_words_are_no_aliases(text: str) -> None:
    assert is_well_formed(text)


@pytest.mark.parametrize("text", GOOD_YAML)
def test_the_plain_is_seen_to_be_well_formed(text: str) -> None:
    assert is_well_formed(text)


def test_a_broken_file_is_reported_where_nothing_trains(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, {"compose.yaml": "services:\n  web: {image: nginx\n", "Dockerfile": "FROM nginx\nRUM x\n"})
    assert not may_train(plan)
    assert sorted(Path(broken.path).name for broken in plan.unreadable()) == ["Dockerfile", "compose.yaml"]
