"""`ligerimport bench` as a command: options, plans, listings, what it says when something is missing."""

import csv
import io
import subprocess
import sys

import pytest
from click.testing import CliRunner

from kernelindex_liger.bench import requirements
from kernelindex_liger.bench.registry import kernel, names
from kernelindex_liger.cli.bench import command

OPTIONS = (
    "--kernel --list --provider --pass --metric --sweep --model --bt --x --quick --impl --overwrite --device "
    "--timeout --rep --warmup --plan --rehearse"
)


def run(*arguments):
    return CliRunner().invoke(command, arguments)


def planned(*arguments):
    result = run("--plan", "--all-providers", *arguments)
    assert result.exit_code == 0, result.output
    return list(csv.DictReader(io.StringIO(result.stdout)))


@pytest.fixture(autouse=True)
def _no_gpu(monkeypatch):
    monkeypatch.setattr("kernelindex_liger.bench.device.described", lambda _label: ("", 80))


def test_list_names_every_kernel_and_its_baseline():
    result = run("--list")
    assert result.exit_code == 0
    lines = result.stdout.split("\n\n")[0].splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(names())
    assert "huggingface*, liger" in next(line for line in lines if line.startswith("rms_norm "))


def test_list_shows_deviations_with_their_caveats():
    lines = run("-k", "simpo_loss", "--list").stdout.split("\n\n")[2].splitlines()
    found = {line.split()[0]: line for line in lines[1:]}
    assert set(found) == {deviation.slug for deviation in kernel("simpo_loss").deviations}
    assert " baseline-is-cpo " in found["baseline-is-cpo"]
    assert " empty-chosen-half " in found["batch-of-one-is-nan"]
    assert " - " in found["cudnn-deterministic"]


def test_what_needs_several_gpus_is_planned_and_said_not_to_be_measured():
    listed = run("-k", "megatron_cross_entropy", "--list").stdout.splitlines()[1]
    assert "token_length, tp2 (planned only: 2 GPUs), tp4 (planned only: 4 GPUs)" in listed
    result = run("-k", "megatron_*", "--plan", "--all-providers", "--sweep", "tp2", "--metric", "memory")
    assert len(result.stdout.splitlines()) == 1 + 3 * 6
    assert "megatron_cross_entropy: 18 cases are planned but not measured: each needs 2 GPUs at once" in result.stderr


def test_a_run_says_what_it_cannot_measure(tmp_path, monkeypatch):
    monkeypatch.setattr(requirements, "missing_extra", lambda: ())
    monkeypatch.setattr("kernelindex_liger.bench.plan.unmet_of", lambda *_: ())
    monkeypatch.setattr("kernelindex_liger.bench.station.Station.serve", lambda self: None)
    monkeypatch.setattr("signal.signal", lambda *_: None)  # the handler would outlive the command
    out = str(tmp_path / "a.csv")
    result = run("-k", "megatron_cross_entropy", "--sweep", "tp4", "--metric", "memory", "-o", out)
    assert result.exit_code == 2
    assert "18 cases are planned but not measured: each needs 4 GPUs at once" in result.stderr
    assert "18 not measured (they need several GPUs at once)" in result.stderr


def test_a_plan_has_upstreams_rows_with_empty_values():
    rows = planned("-k", "rms_norm")
    assert len(rows) == (3 + 1) * 2 * 4
    assert rows[0]["x_value"] == "1024"
    assert {row["y_value_50"] + row["timestamp"] for row in rows} == {""}


@pytest.mark.parametrize(
    ("arguments", "check"),
    [
        (("--metric", "memory"), lambda rows: {r["metric_name"] for r in rows} == {"memory"}),
        (("--pass", "backward"), lambda rows: {r["kernel_operation_mode"] for r in rows} == {"backward"}),
        (("--provider", "lig*"), lambda rows: {r["kernel_provider"] for r in rows} == {"liger"}),
        (("--x", "2048"), lambda rows: {r["x_value"] for r in rows} == {"2048"}),
        (("--quick",), lambda rows: {r["x_value"] for r in rows} == {"1024", "8192"}),
        (("--model", "llama_2_7b"), lambda rows: rows[-1]["x_value"] == "4096"),
        (
            ("--impl", "cutile"),
            lambda rows: {r["kernel_provider"] for r in rows} == {"huggingface", "liger_cutile"},
        ),
        (("--sweep", "model_config"), lambda rows: rows[0]["x_value"] == "llama_2_7b"),
        (
            ("--sweep", "model_config", "--bt", "4096"),
            lambda rows: '"seq_len": 4096' in rows[0]["extra_benchmark_config_str"],
        ),
    ],
)
def test_options_choose_rows(arguments, check):
    rows = planned("-k", "rms_norm", *arguments)
    assert rows
    assert check(rows)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name a kernel"),
        (("-k", "nonsense*"), "no kernel matches nonsense*"),
        (("-k", "rms_norm", "--model", "gpt"), "choose from deepseek_v2_lite"),
        (("-k", "rms_norm", "--sweep", "tp2"), "choose from model_config, token_length"),
        (("-k", "rms_norm", "--pass", "sideways"), "choose from backward, forward, full"),
    ],
)
def test_wrong_usage_says_what_to_do(arguments, said):
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in result.output


def test_a_plan_does_not_replace_measured_rows(tmp_path):
    out = tmp_path / "results.csv"
    out.write_text("precious")
    result = run("-k", "rms_norm", "--plan", "-o", str(out))
    assert result.exit_code == 2
    assert out.read_text() == "precious"


def test_without_the_extra_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(requirements, "missing_extra", lambda: ("torch", "triton", "liger-kernel"))
    result = run("-k", "rms_norm", "-o", str(tmp_path / "a.csv"))
    assert result.exit_code == 4
    assert "bench needs torch, triton, liger-kernel: pip install 'kernelindex-liger[bench]'" in result.output


def test_modules_are_found_without_importing_them():
    code = (
        "import sys\n"
        "from kernelindex_liger.bench.requirements import has_module, missing_extra\n"
        "assert has_module('email.mime.text') and not has_module('email.mime.nonsense')\n"
        "assert not has_module('nonsense_package.a')\n"
        "missing_extra()\n"
        "assert 'email.mime' not in sys.modules and 'torch' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_help_names_every_option_that_the_documentation_promises():
    text = run("-h").output
    for option in OPTIONS.split():
        assert option in text
