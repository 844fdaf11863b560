"""Property tests over files that are made by grammar: whatever they say, dllint ends soon and without an error."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from languages import LANGUAGES, Language
from survival import survives


@pytest.mark.parametrize("language", LANGUAGES.values(), ids=LANGUAGES.keys())
@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_generated_file_is_survived(language: Language, data: st.DataObject) -> None:
    survives(data.draw(language.texts).encode("utf-8", "surrogatepass"), language.name)
