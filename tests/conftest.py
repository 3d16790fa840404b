"""Fixtures only: a place for notes, and the recorded answers where they are at hand."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def shared() -> Path:
    """The folder with the recorded answers of the original."""
    place = Path(os.environ.get("MEMGREP_SHARED") or Path(__file__).parents[2] / "shared")
    if not (place / "golden").is_dir():
        pytest.skip("the recorded answers are not at hand (MEMGREP_SHARED)")
    return place
