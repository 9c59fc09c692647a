"""The folder: append-only, named by content, nothing twice."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import polars as pl
import pytest
from synthetic import GPU, environment, night, row, table

from kernelindex_liger.files import OutputError
from kernelindex_liger.history.errors import BadInputError
from kernelindex_liger.history.store import PART, History


def test_a_run_comes_back_as_it_was_added(history):
    runs = night(0)
    (added,) = history.add(runs, "first")
    assert (added.new, added.known) == (runs.height, 0)
    held = history.rows()
    assert dict(held.schema) == PART
    assert sorted(held["ns"]) == sorted(runs["ns"])
    (run,) = history.runs()
    assert (run.label, run.machine, run.time) == ("first", GPU, runs["observed_at"].max())


def test_the_same_run_twice_changes_nothing(history):
    history.add(night(0), "first")
    before = {part: part.stat().st_mtime_ns for part in history.parts}
    (again,) = history.add(night(0), "first")
    assert (again.new, again.part) == (0, None)
    assert {part: part.stat().st_mtime_ns for part in history.parts} == before


def test_the_same_rows_under_another_label_are_not_another_run(history):
    history.add(night(0), "first")
    (again,) = history.add(night(0), "second")
    assert again.new == 0
    assert [run.label for run in history.runs()] == ["first"]


def test_a_csv_that_grows_gives_only_its_new_rows_and_remembers_what_it_still_holds(history):
    history.add(night(0), "first")
    grown = pl.concat([night(0), night(1, kernels=1)])
    (added,) = history.add(grown, "second")
    assert added.new == night(1, kernels=1).height
    second = history.rows().filter(pl.col("label") == "second")
    assert set(second.filter("carried")["kernel"]) == {f"kernel_{k}" for k in range(1, 6)}
    assert history.runs()[1].measured == added.new


def test_the_order_of_rows_does_not_change_the_part(tmp_path):
    one, two = History(tmp_path / "one"), History(tmp_path / "two")
    one.add(night(0), "a")
    two.add(night(0).reverse(), "a")
    assert [part.name for part in one.parts] == [part.name for part in two.parts]


def test_two_environments_under_one_label_are_two_runs(history):
    other = table([row("kernel_0", 1, 100, 0, gpu="NVIDIA H200", environment=environment("NVIDIA H200"))])
    history.add(pl.concat([night(0), other]), "a")
    assert sorted(run.machine for run in history.runs()) == [GPU, "NVIDIA H200"]
    assert len(history.parts) == 2


def test_a_new_liger_kernel_is_no_new_environment_but_a_new_driver_is(history):
    for index, (driver, liger) in enumerate([("550", "0.6.0"), ("550", "0.7.0"), ("560", "0.7.0")]):
        history.add(night(index, environment=environment(driver=driver, liger=liger)), f"n{index}")
    keys = [run.environment_key for run in history.runs()]
    assert keys[0] == keys[1] != keys[2]


def test_the_given_time_orders_runs(history):
    history.add(night(5), "late rows", datetime(2025, 1, 1, tzinfo=UTC))
    history.add(night(1), "early rows")
    assert [run.label for run in history.runs()] == ["late rows", "early rows"]


@pytest.mark.parametrize("label", ["", "a\nb", "\x1b[31mred", "x" * 201])
def test_a_label_that_cannot_be_shown_is_refused(history, label):
    with pytest.raises(BadInputError, match="cannot be a label"):
        history.add(night(0), label)
    assert history.parts == []


def test_a_row_without_a_time_is_refused(history):
    runs = table([row("kernel_0", 1, 100, 0, observed_at=None)])
    with pytest.raises(BadInputError, match="1 rows without observed_at"):
        history.add(runs, "a")


def test_a_changed_part_is_found(history):
    history.add(night(0), "a")
    assert history.check() == []
    (part,) = history.parts
    pl.read_parquet(part).with_columns(ns=pl.col("ns") + 1).write_parquet(part)
    (fault,) = history.check()
    assert part.name in fault


def test_a_broken_part_is_named(history):
    history.add(night(0), "a")
    history.add(night(1), "b")
    history.parts[0].write_bytes(b"PAR1 no more")
    with pytest.raises(BadInputError, match=history.parts[0].name):
        history.runs()
    assert len(history.check()) == 1


def test_a_folder_of_another_format_is_refused(tmp_path):
    (tmp_path / "history.json").write_text(json.dumps({"version": 99}))
    with pytest.raises(BadInputError, match="format 99"):
        History(tmp_path)


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError):
        History(tmp_path / "file" / "history").add(night(0), "a")


def test_a_full_disk_leaves_no_part_behind(history, monkeypatch):
    def full(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    history.add(night(0), "a")
    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    with pytest.raises(OutputError, match="No space left"):
        history.add(night(1), "b")
    monkeypatch.undo()
    assert [path.name for path in (history.folder / "parts").iterdir()] == [history.parts[0].name]
    history.add(night(1), "b")
    assert [run.label for run in history.runs()] == ["a", "b"]
