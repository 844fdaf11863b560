"""`dllint shm`: the estimate, its formula, and settings to paste."""

from __future__ import annotations

import json

import pytest

from dllint.cli import main
from dllint.deploy.sizes import GIB, MIB, docker_bytes, quantity

Captured = pytest.CaptureFixture[str]


def estimate(capsys: Captured, *words: str) -> dict[str, object]:
    assert main(["shm", *words, "--output-format", "json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_the_formula(capsys: Captured) -> None:
    found = estimate(capsys, "--workers", "8", "--prefetch", "2", "--batch-size", "256", "--sample", "3x224x224")
    assert found["batch_bytes"] == 256 * 3 * 224 * 224 * 4
    assert found["bytes"] == (8 * 2 + 2) * 256 * 3 * 224 * 224 * 4
    assert found["fits_default"] is False


def test_several_tensors_and_types(capsys: Captured) -> None:
    words = ["--workers", "1", "--sample", "10:int64", "--sample", "4x4", "--dtype", "uint8"]
    assert estimate(capsys, *words)["batch_bytes"] == 10 * 8 + 16


def test_bytes_of_a_batch_instead_of_a_shape(capsys: Captured) -> None:
    assert estimate(capsys, "--workers", "2", "--batch-bytes", "600MB")["bytes"] == 6 * 600 * MIB


def test_no_workers_need_nothing(capsys: Captured) -> None:
    assert estimate(capsys, "--workers", "0", "--batch-bytes", "1g")["bytes"] == 0


def test_the_settings_hold_what_is_needed(capsys: Captured) -> None:
    found = estimate(capsys, "--workers", "8", "--batch-bytes", "600MB")
    settings = found["settings"]
    assert isinstance(settings, dict)
    advised = found["advised_bytes"]
    assert isinstance(advised, int)
    assert advised > (8 * 2 + 2) * 600 * MIB
    assert docker_bytes(settings["docker run"].removeprefix("--shm-size=")) == advised
    assert docker_bytes(settings["compose"].removeprefix("shm_size: ").strip("'")) == advised
    assert quantity(settings["Kubernetes"].split("sizeLimit: ")[1].split()[0]) == advised
    assert advised % GIB == 0


def test_the_text_says_the_formula_and_what_to_paste(capsys: Captured) -> None:
    assert main(["shm", "--workers", "8", "--batch-size", "64", "--sample", "3x224x224"]) == 0
    text = capsys.readouterr().out
    assert "(8 workers x 2 prefetched + 2) batches x 37 MB = 662 MB" in text
    assert "--shm-size=1g" in text


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--workers", "2"], "--sample"),
        (["--workers", "-1", "--batch-bytes", "1g"], "whole number"),
        (["--workers", "2", "--sample", "3xx4"], "3x224x224"),
        (["--workers", "2", "--sample", "3:float99"], "dtype"),
        (["--workers", "2", "--batch-bytes", "8Gi"], "600MB"),
        (["--workers", "2", "--batch-bytes", "1g", "--sample", "3"], "not allowed"),
    ],
)
def test_bad_usage_is_told(capsys: Captured, words: list[str], told: str) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["shm", *words])
    assert stop.value.code == 2
    assert told in capsys.readouterr().err
