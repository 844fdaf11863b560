"""Which commands take another version of the code than the one that is seen."""

from __future__ import annotations

import pytest

from dllint.deploy.checked_out import is_another_version


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git checkout faster-loading", True),
        ("git checkout v1.2", True),
        ("git -C /src checkout 3f2a9c1", True),
        ("git switch feature/loading", True),
        ("git clone -b faster https://example.com/scans.git", True),
        ("git clone --branch=faster https://example.com/scans.git", True),
        ("git checkout main", False),
        ("git checkout origin/master", False),
        ("git checkout -b mine", False),
        ("git checkout -- train.py", False),
        ("git checkout $BRANCH", False),
        ("git switch -c mine", False),
        ("git clone https://example.com/scans.git", False),
        ("git clone -b main https://example.com/scans.git", False),
        ("git clone -b", False),
        ("git pull", False),
        ("git", False),
        ("echo checkout faster", False),
    ],
)
def test_another_version(command: str, expected: bool) -> None:
    assert is_another_version(command.split()) is expected
