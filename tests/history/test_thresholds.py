"""The TOML file: presets, rules, and what is refused."""

from __future__ import annotations

import pytest

from kernelindex_liger.history.errors import BadInputError
from kernelindex_liger.history.thresholds import PRESETS, load, preset


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_loads(name):
    assert preset(name).preset == name
    assert preset(name).time.change == PRESETS[name]["time"]["change"]


def test_a_file_changes_only_what_it_states(tmp_path):
    file = tmp_path / "t.toml"
    file.write_text('version = 1\npreset = "strict"\n[time]\nwindow = 20\n')
    limits = load(file)
    assert (limits.time.window, limits.time.change) == (20, PRESETS["strict"]["time"]["change"])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[time]\nchnage = 0.1\n", "time.chnage: unknown key"),
        ("speed = 1\n", "speed: unknown key"),
        ('[[rule]]\nkernle = "x"\n', "rule.0.kernle: unknown key"),
        ('preset = "loose"\n', "no preset 'loose'"),
        ("version = 2\n", "version"),
        ("[time]\nchange = -0.1\n", "time.change"),
        ("[time]\nchange = nan\n", "time.change"),
        ('[time]\nwindow = "many"\n', "time.window"),
        ("time = 3\n", "time"),
        ("[time\n", "not readable as TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, fault):
    file = tmp_path / "t.toml"
    file.write_text(text)
    with pytest.raises(BadInputError) as caught:
        load(file)
    assert fault in str(caught.value)
    assert str(file) in str(caught.value)


def test_no_such_file_is_said(tmp_path):
    with pytest.raises(BadInputError, match=r"none\.toml"):
        load(tmp_path / "none.toml")
