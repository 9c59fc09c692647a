"""The catalogue: sound in itself, and equal to what is published."""

import json
from pathlib import Path

import pytest

from kernelindex_liger.catalog import Catalog, CatalogError, load
from kernelindex_liger.catalog.expressions import Expression, ExpressionError, parse
from kernelindex_liger.catalog.matching import Match
from kernelindex_liger.conversion import match
from kernelindex_liger.conversion.link import Linker
from kernelindex_liger.conversion.reading import read_workload


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load()


def test_published_operations_are_built_to_the_digest(shared: Path, catalog: Catalog) -> None:
    entries = json.loads((shared / "kernelindex" / "operations.json").read_text())
    assert len(entries) == 35
    linker = Linker(catalog)
    for entry in entries:
        kernel = catalog.kernels[entry["kernel_name"]]
        operation = linker.operation(next(iter(kernel.operations.values())))
        assert operation.digest == entry["digest"], entry["kernel_name"]
        assert operation.name == entry["document"]["metadata"]["name"]
        assert operation.document["metadata"]["title"] == entry["document"]["metadata"]["title"]


def test_published_implementations_are_built_to_the_digest(shared: Path, catalog: Catalog) -> None:
    entries = json.loads((shared / "kernelindex" / "implementations.json").read_text())
    assert len(entries) == 84
    linker = Linker(catalog)
    for entry in entries:
        kernel = catalog.kernels[entry["kernel_name"]]
        slug, operation = next(iter(kernel.operations.items()))
        provider = catalog.providers[entry["provider"]].with_changes(kernel.implementations.get(entry["provider"]))
        made = linker.implementation(kernel.name, slug, entry["provider"], provider, linker.operation(operation))
        assert made.digest == entry["digest"], (entry["kernel_name"], entry["provider"])
        for field in ("name", "title", "labels"):
            assert made.document["metadata"].get(field) == entry["document"]["metadata"].get(field)
        assert made.project == entry["projectSlug"]


def test_worked_examples_are_read_to_the_digest(shared: Path, catalog: Catalog) -> None:
    linker = Linker(catalog)
    shapes = json.loads((shared / "kernelindex" / "workload_examples.json").read_text())
    assert len(shapes) == 43
    for shape in shapes:
        for example in shape["examples"]:
            config = json.dumps(example["config"])
            kernel, x_name, x = shape["kernel_name"], shape["x_name"], example["x_value"]
            reading = read_workload(catalog, kernel, "liger", x_name, x, config, None)
            workload = linker.workload(reading)
            assert workload.document == example["workload"]
            assert workload.digest == example["workloadDigest"]


def test_published_protocols_and_environments_are_built_whole(shared: Path, catalog: Catalog) -> None:
    linker = Linker(catalog)
    for entry in json.loads((shared / "kernelindex" / "protocols.json").read_text()):
        assert linker.protocol("do_bench", entry["mode"]).document == entry["document"]
    for entry in json.loads((shared / "kernelindex" / "environments.json").read_text()):
        assert linker.environment(entry["gpu_name"]).document == entry["document"]


def test_an_operation_names_a_script_of_the_kernel_whose_file_holds_it(catalog: Catalog) -> None:
    """Kernels that measure another's operation come and go; what the operation says of itself stays."""
    linker = Linker(catalog)
    for kernel in catalog.kernels.values():
        commits = {shape.revision.partition(":")[0] for shape in kernel.shapes}
        for operation in kernel.operations.values():
            (source,) = linker.operation(operation).document["metadata"]["sourceRefs"]
            assert any(f"/blob/{commit}" in source["url"] for commit in commits), source
    swiglu = linker.operation(catalog.operations["liger-swiglu"]).document["metadata"]
    assert swiglu["sourceRefs"][0]["url"].endswith("benchmark_swiglu.py")


def test_protocols_differ_from_one_another(catalog: Catalog) -> None:
    linker = Linker(catalog)
    made = [linker.protocol(name, pass_) for name, one in catalog.protocols.items() for pass_ in one.passes]
    assert len({one.digest for one in made}) == len({one.name for one in made}) == len(made)


def test_every_gpu_and_provider_can_be_reached(catalog: Catalog) -> None:
    linker = Linker(catalog)
    for name in catalog.gpu_names:
        linker.environment(name)
    assert {one.project for one in catalog.providers.values()} == set(catalog.projects)


def test_the_digest_names_the_state(catalog: Catalog, tmp_path: Path) -> None:
    assert load().digest == catalog.digest
    extra = tmp_path / "gpu.toml"
    extra.write_text('[[gpus]]\nvendor = "acme"\nproduct = "ACME 1"\narchitecture = "a1"\nnames = { "ACME 1" = "" }\n')
    more = load([extra])
    assert more.digest != catalog.digest
    assert more.gpu_names["ACME 1"].vendor == "acme"


def _shape(**keys: str) -> str:
    lines = "".join(f"{key} = '{value}'\n" for key, value in keys.items())
    return (
        "kernel = 'k'\n[[shapes]]\nid = 'a'\nx = 'N'\nconfig = ['sizes']\nrevision = '0000000'\n"
        f"axes = {{ rows = 1 }}\ndtype = 'fp32'\n{lines}"
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("kernel = ", "not TOML"),
        ("\xff", "not TOML"),
        ("colour = 1", "colour: Extra inputs"),
        ("[[shapes]]\nid='a'\n", "shapes.0.x"),
        ("[providers.x]\ntitle='X'\nproject='nowhere'\nlanguage='c'\ndescription='An unknown one.'\ndeclared='MIT'\n",
         "provider x: no project nowhere"),
        ("[metrics]\nspeed = 'sundial'\n", "metric speed: no protocol sundial"),
        (_shape(models="sizes"), "shape a: models names a config key of a shape that reads a model"),
        (_shape(reads="model", models="elsewhere"), "shape a: models names a config key"),
    ],
)  # fmt: skip
def test_wrong_catalogue_files_say_what_is_wrong(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(CatalogError, match=said.replace(".", r"\.")):
        load([path])


def test_two_shapes_for_one_row_are_refused(tmp_path: Path) -> None:
    shape = """
[[shapes]]
id = "{id}"
x = "N"
config = ["M"]
revision = "0000000"
axes = {{ rows = "M", hidden = "x" }}
dtype = "fp32"
"""
    path = tmp_path / "twice.toml"
    operation = 'slug = "liger-softmax"'
    path.write_text(
        'kernel = "softmax"\n[[operations]]\n' + operation + '\nfamily = "softmax"\ntitle = "Softmax"\n'
        'description = "Softmax along the last dimension."\n'
        'inputs = [{ name = "x", shape = ["rows", "hidden"], dtype = "float" }]\n'
        'outputs = [{ name = "y", shape = ["rows", "hidden"], dtype = "float" }]\n'
        + shape.format(id="one")
        + shape.format(id="other")
    )
    with pytest.raises(CatalogError, match="shapes one and other could both claim one row"):
        load([path])


@pytest.mark.parametrize(
    ("text", "value"), [("2 * x + 1", 9), ("(x + 2) // 4", 1), ("x % 3", 1), ("10 - x", 6), ("x", 4), ("7", 7)]
)
def test_expressions_by_example(text: str, value: int) -> None:
    assert parse(text).value({"x": 4}) == value


@pytest.mark.parametrize(
    "text",
    ["", "x +", "x / 2", "x ** 9", "f(x)", "x.y", "x[0]", "'a'", "1.5", "lambda: 1", "(" * 60 + "x" + ")" * 60 + "+",
     "-".join(["x"] * 60), "x" * 201, "9" * 30, "True", "__import__('os')", "x if x else 1", "-x"],
)  # fmt: skip
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        Expression(text)


@pytest.mark.parametrize("text", ["x // 0", "x % 0", "y", "b", "x * x * x * x * x * x"])
def test_what_has_no_value_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse(text).value({"x": 10**4, "b": True, "s": "a"})


def test_every_condition_of_a_match_is_asked_of_combinations_or_of_rows() -> None:
    of_combinations = {*match.COMBINATIONS, "config", "config_keys"}
    assert of_combinations.isdisjoint(match.ROWS)
    assert of_combinations | match.ROWS == set(Match.model_fields)
