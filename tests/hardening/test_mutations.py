"""A part of the long run that is quick enough for every day: some fixtures, broken in each way."""

from __future__ import annotations

from random import Random

import pytest

import mutations
from mutations import MUTATIONS
from trials import Trial, of_fixtures

SAMPLE = Random(1).sample(list(of_fixtures(1)), 60)


@pytest.fixture(autouse=True)
def fewer_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes quadratic time shows by less than the 100,000 lines of the long run."""
    monkeypatch.setattr(mutations, "REPEATS", 10_000)


@pytest.mark.parametrize("trial", SAMPLE, ids=[trial.name for trial in SAMPLE])
def test_a_broken_fixture_is_survived(trial: Trial) -> None:
    assert trial.run() == 1


def test_the_sample_holds_every_mutation() -> None:
    assert {trial.name.split()[0] for trial in SAMPLE} == set(MUTATIONS)
