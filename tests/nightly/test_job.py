"""The job end to end: nights in a row, killed at each step, a full disk, two at once."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from made import write_csv

from kernelindex_liger.files import OutputError
from kernelindex_liger.history.store import History
from kernelindex_liger.nightly import benchmark, job, settings
from kernelindex_liger.nightly.log import Log
from kernelindex_liger.nightly.night import all_nights, take_up

STEPS = list(job.STEPS)


def nightly(home, csv, **over):
    log = Log(home / "nightly.log", quiet=True)
    return job.run(home, settings.load(home).model_copy(update=over), log, str(csv))


def several(home, csv, count, start=0, **over):
    statuses = []
    for night in range(start, start + count):
        write_csv(csv, night, **over)
        statuses.append(nightly(home, csv))
    return statuses


def labels(home):
    return [run.label for run in History(home / "history").runs()]


def newest(home):
    return (home / "latest").resolve()


def test_nights_in_a_row_end_with_nothing_slower(home, tmp_path):
    csv = tmp_path / "results.csv"
    assert several(home, csv, 5) == [5, 5, 5, 0, 0]
    assert len(labels(home)) == 5
    night = newest(home)
    assert {path.name for path in night.iterdir()} >= {"judgement.json", "report.md", "report.txt", "out", "input"}
    assert (night / "out" / "runs.parquet").exists()
    assert json.loads((night / "judgement.json").read_text())["runs"][0]["counts"] == {"same": 30}


def test_a_slow_down_gives_status_1_on_its_second_night_and_the_reports_name_it(home, tmp_path):
    csv = tmp_path / "results.csv"
    several(home, csv, 5)
    assert several(home, csv, 2, 5, slow=1.3) == [0, 1]
    text = (newest(home) / "report.md").read_text()
    assert "15 confirmed slower" in text
    assert "rms\\_norm" in text


def test_the_same_csv_again_is_nothing_new_and_never_0(home, tmp_path):
    csv = tmp_path / "results.csv"
    several(home, csv, 5)
    before, parts = newest(home), History(home / "history").parts
    assert nightly(home, csv) == 5
    assert (newest(home), History(home / "history").parts) == (before, parts)
    assert len(list((home / "nights").iterdir())) == 5


def test_known_rows_in_another_file_are_nothing_new_either(home, tmp_path):
    several(home, tmp_path / "one.csv", 1)
    csv = write_csv(tmp_path / "two.csv", 0)
    csv.write_text(csv.read_text().replace("\r\n", "\n"))
    assert nightly(home, csv) == 5
    assert len(labels(home)) == 1


def test_each_step_gives_a_line_as_text_or_json(home, tmp_path, capsys):
    csv = write_csv(tmp_path / "results.csv")
    job.run(home, settings.load(home), Log(home / "nightly.log", "json"), str(csv))
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line["step"] for line in lines] == ["lock", *STEPS, "latest", "retention", "night"]
    assert {line["outcome"] for line in lines} == {"done"}
    assert all(line["seconds"] >= 0 for line in lines if line["step"] in STEPS)
    assert (home / "nightly.log").read_text().count("\n") == len(lines)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_job_killed_at_a_step_goes_on_where_it_stopped(home, tmp_path, step, moment):
    csv = tmp_path / "results.csv"
    several(home, csv, 3)
    before = newest(home)
    write_csv(csv, 3)
    program = textwrap.dedent(
        """
        import os, signal, sys
        from pathlib import Path
        from kernelindex_liger.nightly import job, settings, steps
        from kernelindex_liger.nightly.log import Log
        home, csv, name, moment = sys.argv[1:]
        real = getattr(steps, name)
        def die(work):
            if moment == "after":
                real(work)
            os.kill(os.getpid(), signal.SIGKILL)
        setattr(steps, name, die)
        job.run(Path(home), settings.load(Path(home)), Log(None, quiet=True), csv)
        """
    )
    command = [sys.executable, "-c", program, str(home), str(csv), job.STEPS[step], moment]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert newest(home) == before
    assert nightly(home, csv) == 0
    assert len(labels(home)) == len(set(labels(home))) == 4
    assert newest(home) != before
    assert all(night.complete for night in all_nights(home))
    done_before = STEPS.index(step)
    log = (home / "nightly.log").read_text()
    assert log.count("done before") == done_before
    assert not list(home.rglob(".tmp-*"))


def test_runs_of_a_night_that_was_killed_while_they_were_added_are_its_own(home, tmp_path, monkeypatch):
    """Of three new runs one is in the history when the job dies; all three are judged when it is started again."""
    pages = tmp_path / "pages"
    for night in range(4):
        write_csv(pages / f"c{night}" / "benchmark.csv", night)
    nightly(home, pages)
    for night in (4, 5, 6):
        write_csv(pages / f"c{night}" / "benchmark.csv", night)
    real, calls = History.add, []

    def die(self, table, label, time=None):
        calls.append(label)
        if label == "c5":
            raise KeyboardInterrupt
        return real(self, table, label, time)

    monkeypatch.setattr(History, "add", die)
    with pytest.raises(KeyboardInterrupt):
        nightly(home, pages)
    monkeypatch.undo()
    assert calls == ["c0", "c1", "c2", "c3", "c4", "c5"]
    assert nightly(home, pages) == 0
    runs = json.loads((newest(home) / "judgement.json").read_text())["runs"]
    assert [run["label"] for run in runs] == ["c6", "c5", "c4"]


def test_latest_is_mended_when_the_job_was_killed_just_before_it_pointed(home, tmp_path, monkeypatch):
    csv = tmp_path / "results.csv"
    several(home, csv, 1)
    monkeypatch.setattr(job.retention, "publish", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    write_csv(csv, 1)
    with pytest.raises(KeyboardInterrupt):
        nightly(home, csv)
    monkeypatch.undo()
    assert nightly(home, csv) == 5
    assert newest(home).name == list(all_nights(home))[-1].name


def test_latest_never_points_at_a_failed_night(home, tmp_path):
    csv = tmp_path / "results.csv"
    several(home, csv, 2)
    before = newest(home)
    csv.write_text("this is,no benchmark\n1,2\n")
    assert nightly(home, csv) == 3
    assert newest(home) == before
    write_csv(csv, 2)
    assert nightly(home, csv) in {0, 5}
    assert newest(home) != before


def test_a_missing_file_is_bad_input(home, tmp_path):
    assert nightly(home, tmp_path / "none.csv") == 3
    assert "no such file" in (home / "nightly.log").read_text()


def test_a_full_disk_is_said_and_the_next_run_completes_the_night(home, tmp_path):
    """A file-size limit of the process stands for a full disk: writes fail in the middle of a file."""
    csv = tmp_path / "results.csv"
    several(home, csv, 3)
    before = newest(home)
    write_csv(csv, 3)
    program = (
        "import sys, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "from kernelindex_liger.cli import main; main(sys.argv[1:])"
    )

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))

    command = [sys.executable, "-c", program, "nightly", "--home", str(home), "--csv", str(csv)]
    done = subprocess.run(command, check=False, preexec_fn=limit, capture_output=True, text=True)
    assert done.returncode == 6, done.stderr
    assert "cannot be written" in done.stderr
    assert newest(home) == before
    assert nightly(home, csv) == 0
    assert newest(home) != before
    assert not list(home.rglob(".tmp-*"))


@pytest.fixture
def small_disk():
    """The command that gives a program a mount namespace of its own, where it may mount a small disk."""
    command = ["unshare", "--map-root-user", "--mount"]
    try:
        tried = subprocess.run(
            [*command, "sh", "-c", "mount -t tmpfs -o size=64k tmpfs /mnt"], check=False, capture_output=True
        )
    except FileNotFoundError:
        pytest.skip("needs unshare(1) to mount a small disk")
    if tried.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {tried.stderr.decode().strip()}")
    return command


def test_a_disk_that_fills_up_at_any_step_ends_with_6_and_the_next_run_completes_the_night(home, tmp_path, small_disk):
    csv = tmp_path / "results.csv"
    several(home, csv, 3)
    write_csv(csv, 3)
    sizes = ["0", "4", "8", "24", "40", "56", "64", "72", "88", "104"]
    program = [sys.executable, str(Path(__file__).parent / "disk.py"), str(home), str(csv), *sizes]
    done = subprocess.run([*small_disk, *program], check=True, capture_output=True, text=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["free"] // 1024 for one in found] == list(map(int, sizes))
    steps = set()
    for one in found:
        assert one["status"] == 6, one
        assert "cannot be written" in one["said"], one
        assert (one["kept"], one["again"], one["moved"], one["check"], one["left"]) == (True, 0, True, 0, []), one
        steps |= {step for step in STEPS if f" {step}: failed" in one["said"]}
    assert len(steps) >= 4, steps


def test_two_started_at_once_do_not_meet(home, tmp_path):
    csv = write_csv(tmp_path / "results.csv")
    slow = "import time; from kernelindex_liger.nightly import steps; real = steps.measure\n"
    slow += "def wait(job): print('in', flush=True); time.sleep(5); return real(job)\nsteps.measure = wait\n"
    slow += "import sys; from kernelindex_liger.cli import main; main(sys.argv[1:])"
    arguments = ["nightly", "--home", str(home), "--csv", str(csv), "--quiet"]
    first = subprocess.Popen([sys.executable, "-c", slow, *arguments], stdout=subprocess.PIPE)
    assert first.stdout is not None
    assert first.stdout.readline() == b"in\n"
    second = subprocess.run(
        [sys.executable, "-m", "kernelindex_liger", *arguments], check=False, capture_output=True, text=True
    )
    assert second.returncode == 6
    assert "another nightly job is at work" in second.stderr
    assert first.wait() == 5
    assert len(labels(home)) == 1


def test_a_home_that_is_a_file_cannot_be_written(tmp_path):
    (tmp_path / "home").write_text("")
    with pytest.raises(OutputError):
        job.run(tmp_path / "home", settings.Settings(), Log(None, quiet=True), "x.csv")


def test_old_nights_go_and_the_history_stays(home, tmp_path):
    (home / "nightly.toml").write_text("html = false\nkeep = 2\n")
    several(home, tmp_path / "results.csv", 5)
    assert len(list((home / "nights").iterdir())) == 2
    assert newest(home).is_dir()
    assert len(labels(home)) == 5


def test_an_unfinished_night_of_yesterday_is_not_taken_up(home):
    now = datetime(2026, 3, 1, 2, tzinfo=UTC)
    first, _ = take_up(home, "bench", now)
    again, old = take_up(home, "bench", now + timedelta(hours=3))
    assert (again.name, old) == (first.name, True)
    other, old = take_up(home, "some.csv", now + timedelta(hours=3))
    assert (other.name, old) == ("2026-03-01.2", False)
    third, old = take_up(home, "some.csv", now + timedelta(hours=26))
    assert (third.name, old) == ("2026-03-02", False)


def fake_bench(tmp_path, monkeypatch, body):
    """A program in the place of the benchmark: it is given -o and the settings' arguments."""
    program = tmp_path / "bench.py"
    program.write_text(body)
    monkeypatch.setattr(benchmark, "COMMAND", [sys.executable, str(program)])


def bench_night(home):
    return job.run(home, settings.load(home), Log(home / "nightly.log", quiet=True), None)


def test_a_benchmark_that_fails_in_part_is_judged_and_gives_4(home, tmp_path, monkeypatch):
    csv = tmp_path / "results.csv"
    several(home, csv, 5)
    write_csv(tmp_path / "five.csv", 5)
    copy = f"import shutil, sys; shutil.copy({str(tmp_path / 'five.csv')!r}, sys.argv[-1]); sys.exit(4)"
    fake_bench(tmp_path, monkeypatch, copy)
    assert bench_night(home) == 4
    assert json.loads((newest(home) / "judgement.json").read_text())["runs"][0]["judged"] == 30


def test_a_benchmark_that_measures_nothing_is_never_0(home, tmp_path, monkeypatch):
    fake_bench(tmp_path, monkeypatch, "raise SystemExit(0)")
    assert bench_night(home) == 4
    assert not (home / "latest").exists()
    assert "measured nothing" in (home / "nightly.log").read_text()


def test_a_benchmark_past_its_hours_is_ended_with_all_its_workers(home, tmp_path, monkeypatch):
    pids = tmp_path / "pids"
    fake_bench(
        tmp_path,
        monkeypatch,
        "import os, signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\ntime.sleep(600)",
    )
    (home / "nightly.toml").write_text("html = false\n[bench]\nhours = 0.0006\n")
    assert bench_night(home) == 4
    for pid in map(int, pids.read_text().split()):
        for _ in range(50):
            if not _alive(pid):
                break
            time.sleep(0.1)
        assert not _alive(pid)


def _alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
