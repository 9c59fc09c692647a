"""Text, Markdown and JSON: one expected document a situation."""

from __future__ import annotations

import json

import pytest
from synthetic import environment, night, row, table

from kernelindex_liger.history.judge import judge
from kernelindex_liger.history.judgement import VERDICTS
from kernelindex_liger.history.thresholds import preset
from kernelindex_liger.report import json_, markdown, text


def steady(history, nights=4, **over):
    for number in range(nights):
        rows = [row("rms_norm", x, 1000 * x, number, **over) for x in (1024, 2048)]
        history.add(table(rows), f"n{number}")


def judged(history):
    return judge(history, preset())


def test_nothing_slower(history):
    steady(history)
    assert markdown.render(judged(history)) == (
        "## ✅ Benchmarks: n3 on NVIDIA H100 80GB HBM3\n\n**Nothing slower: 2 of 2 judged cases are the same.**\n"
    )


def test_no_history():
    assert markdown.render([]) == "## Benchmarks\n\nNothing to judge: the history is empty.\n"
    assert text.render([]) == "Nothing to judge: the history is empty.\n"


def test_too_little_history(history):
    steady(history, 1)
    assert "❔ Benchmarks" in markdown.render(judged(history))
    assert "Nothing could be judged" in text.render(judged(history))


def test_confirmed_slower(history):
    steady(history)
    for number in (4, 5):
        rows = [row("rms_norm", 1024, 1_024_000, number), row("rms_norm", 2048, 2_048_000 * 1.25, number)]
        history.add(table(rows), f"n{number}")
    case = judged(history)[0].confirmed_slower["case"][0][:8]
    assert markdown.render(judged(history)) == (
        "## ❌ Benchmarks: n5 on NVIDIA H100 80GB HBM3\n\n"
        "**1 confirmed slower; 1 of 2 judged cases are the same.**\n\n"
        "### Confirmed slower (1)\n\n"
        "| change | kernel | pass | provider | case | before → now | spread | runs |\n"
        "| --: | - | - | - | - | --: | --: | --: |\n"
        f"| +25.0 % | rms\\_norm | forward | liger | hidden2048-bf16 `{case}` | 2.048 ms → 2.56 ms | 0.0 % | 4 |\n"
    )
    assert text.render(judged(history)) == (
        "n5 on NVIDIA H100 80GB HBM3\n1 confirmed slower; 1 of 2 judged cases are the same.\n\nConfirmed slower (1)\n"
        f"    +25.0 %  {case}  rms_norm/forward/liger/speed/hidden2048-bf16/NVIDIA H100 80GB HBM3  "
        "2.048 ms → 2.56 ms, spread 0.0 % of 4 runs\n"
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"environment": environment(driver="560")}, "The environment changed since n3: driver not recorded → 560."),
        ({"caveats": ["construction-timed"]}, "Cases left out of the judgement: 2 × caveat: construction-timed."),
        ({"kernel": "swiglu"}, "Kernels vanished (in n3, not here): rms_norm."),
        ({"kernel": "swiglu"}, "Kernels new: swiglu."),
    ],
)
def test_what_concerns_the_run_as_a_whole_is_a_sentence(history, change, said):
    steady(history)
    history.add(
        table([row(**({"kernel": "rms_norm", "x": x, "ns": 1000 * x, "night": 4} | change)) for x in (1024, 2048)]),
        "n4",
    )
    assert said in text.render(judged(history))
    assert said.replace("_", "\\_") in markdown.render(judged(history))


def test_caveats_that_stay_are_counted_and_stand_beside_each_case_in_every_format(history):
    steady(history, caveats=["fp32-output"])
    for number in (4, 5):
        rows = [row("rms_norm", x, 1000 * x * (1 + x // 2048), number, caveats=["fp32-output"]) for x in (1024, 2048)]
        rows.append(row("swiglu", 1, 1000, number, caveats=["construction-timed"]))
        history.add(table(rows), f"n{number}")
    said = "2 × fp32-output"
    plain = text.render(judged(history))
    assert said in plain
    assert "Cases left out of the judgement: 1 × caveat: construction-timed." in plain
    assert plain.splitlines()[-1].endswith("caveats: fp32-output")
    assert said in markdown.render(judged(history))
    assert markdown.render(judged(history)).splitlines()[-1].endswith("| 4 | fp32-output |")
    document = json.loads(json_.render(judged(history)))["runs"][0]
    assert (document["leftOut"], document["withCaveats"]) == ({"caveat: construction-timed": 1}, {"fp32-output": 2})


def test_a_changed_meaning_and_a_repetition_are_said(history):
    steady(history)
    for label in ("1a2b3c4-v1", "1a2b3c4"):
        at = 4 if label.endswith("v1") else 5
        history.add(table([row("rms_norm", x, 1500 * x, at, caveats=["unit-gradient"]) for x in (1024, 2048)]), label)
    out = text.render(judged(history))
    assert "It measures the commit of 1a2b3c4-v1 again" in out
    assert "2 × none → unit-gradient" in text.render(judge(history, preset(), "1a2b3c4-v1"))


def test_a_run_wide_shift_is_said_once(history):
    for number in range(5):
        history.add(night(number, factor=lambda *_, by=1.2 if number == 4 else 1.0: by), f"n{number}")
    assert text.render(judged(history)).count("Run-wide shift") == 1
    assert "Confirmed" not in text.render(judged(history))


def test_json_has_every_case_with_its_numbers(history):
    steady(history)
    history.add(table([row("rms_norm", 1024, 2_000_000, 4), row("new", 1, 5, 4)]), "n4")
    document = json.loads(json_.render(judged(history)))
    cases = {case["name"].split("/")[0] + case["x_value"]: case for case in document["runs"][0]["cases"]}
    assert {case["verdict"] for case in cases.values()} <= set(VERDICTS)
    assert (cases["new1"]["verdict"], cases["rms_norm2048"]["verdict"]) == ("new", "vanished")
    slow = cases["rms_norm1024"]
    assert (slow["verdict"], slow["strength"], slow["runs"]) == ("slower", "suspected", 4)
    assert slow["ratio"] == pytest.approx(2_000_000 / 1_024_000)


def test_markdown_cannot_be_broken_by_a_label(history):
    history.add(table([row("rms_norm", 1, 1000, 0)]), "<script>|*x*")
    out = markdown.render(judged(history))
    assert "<script>" not in out
    assert "\\|" in out
