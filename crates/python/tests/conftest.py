"""Scenes for tests."""

import pytest


def small(**changes):
    """A column of water in 2D that collapses: 160 cells, 6 frames."""
    scene = {
        "name": "small",
        "domain": {"size": [1.0, 1.0], "resolution": 24},
        "time": {"frames": 6},
        "liquid": [{"shape": {"box": {"low": [0.0, 0.0], "high": [0.4, 0.6]}}}],
        "output": {"preview": False},
    }
    scene.update(changes)
    return scene


@pytest.fixture
def scene():
    return small()


@pytest.fixture
def floating():
    """A light box in water, 2D."""
    return small(
        name="floating",
        liquid=[{"shape": {"box": {"low": [0.0, 0.0], "high": [1.0, 0.4]}}}],
        body=[{"name": "box", "shape": {"box": {"low": [0.4, 0.35], "high": [0.6, 0.45]}}, "density": 500.0}],
    )
