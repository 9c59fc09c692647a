"""Link: readings become the documents that runs point to, each built once, each with its digest."""

from __future__ import annotations

import functools
from typing import Any

from kernelindex_liger.catalog import Catalog, Kernel
from kernelindex_liger.catalog.facts import Operation, Provider, Tensor
from kernelindex_liger.conversion.linked import Linked, LinkedImplementation, linked
from kernelindex_liger.conversion.reading import Reading
from kernelindex_liger.conversion.workload import Form
from kernelindex_liger.documents import (
    BenchmarkProtocol,
    ExecutionEnvironment,
    ImplementationRevision,
    OperationSpec,
    SoftwareProject,
    slug,
)

REPOSITORY = "https://github.com/linkedin/Liger-Kernel"


class AmbiguousNameError(ValueError):
    """Two different workloads would have one name."""


class Linker:
    """Builds linked documents from the catalogue; asking twice gives the same object."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._operations: dict[str, Linked] = {}
        self._workloads: dict[str, Linked] = {}
        self._forms: dict[object, Form] = {}
        self._by_pattern: dict[object, Form] = {}

    def operation(self, operation: Operation, kernel: Kernel | None = None) -> Linked:
        """The OperationSpec of a catalogue's operation; `kernel` is where it most likely stands."""
        known = self._operations.get(operation.slug)
        if known is None:
            holder = self._catalog.holder(operation, kernel)
            measuring = (one for one in holder.shapes if self._catalog.operation(holder, one).slug == operation.slug)
            # the first shape in the file that holds it, whichever rows come first
            source = next((shape.revision for shape in measuring), "")
            known = self._operations[operation.slug] = linked(_operation(operation, source))
        return known

    def workload(self, reading: Reading) -> Linked:
        """The WorkloadCase of a reading.

        Raises:
            AmbiguousNameError: if another workload has the same name: the shape's `switches` do not tell them apart.
        """
        case = self._workload_form(reading).fill(reading)
        known = self._workloads.setdefault(case.name, case)
        if known.digest != case.digest:
            raise AmbiguousNameError(
                f"kernel {reading.kernel.name}, shape {reading.shape.id}: two workloads have the name {case.name}; "
                "name what differs under switches"
            )
        return known

    def _workload_form(self, reading: Reading) -> Form:
        """What workloads that differ in sizes alone have in common."""
        if reading.pattern is not None and (form := self._by_pattern.get(reading.pattern)) is not None:
            return form
        key = (
            reading.operation.slug,
            tuple(reading.axes),
            reading.dtype,
            tuple(reading.dtypes.items()),
            tuple(reading.scalars.items()),
            reading.shape.switches,
        )
        known = self._forms.get(key)
        if known is None:
            known = self._forms[key] = Form(reading, self.operation(reading.operation, reading.kernel))
        if reading.pattern is not None:
            self._by_pattern[reading.pattern] = known
        return known

    @functools.cache  # noqa: B019 - a linker lives as long as one conversion
    def project(self, name: str) -> Linked:
        """The SoftwareProject of that slug."""
        project = self._catalog.projects[name]
        spec = project.model_dump(exclude_none=True)
        return linked(SoftwareProject.model_validate({"metadata": {"name": name}, "spec": spec}))

    @functools.cache  # noqa: B019
    def implementation(
        self, kernel: str, main_operation: str, name: str, provider: Provider, operation: Linked
    ) -> LinkedImplementation:
        """The ImplementationRevision of a provider for an operation of a kernel."""
        project = self.project(provider.project)
        subject = kernel if operation.name == main_operation else operation.name.removeprefix("liger-")
        if operation.name != main_operation and subject == slug(kernel):
            subject = operation.name  # else two documents would have one name, and one of them be lost
        document = ImplementationRevision.model_validate(
            {
                "metadata": {
                    "name": slug(f"liger-bench-{subject}-{name}"),
                    "title": f"{operation.document['metadata']['title']} · {provider.title}",
                    "description": provider.description,
                    "labels": {"role": "baseline"} if provider.role == "baseline" else None,
                    "sourceRefs": [{"url": REPOSITORY}],
                },
                "spec": {
                    "operation": {"specDigest": operation.digest},
                    "callable": {"language": provider.language},
                    "buildVariants": [{"name": "pip", "install": {"kind": "pip", "package": provider.pip}}]
                    if provider.pip
                    else None,
                    "licensing": {"declared": provider.declared, "concluded": provider.concluded},
                },
            }
        )
        role = provider.role if provider.role == "baseline" else None
        one = linked(document, operation, project)
        return LinkedImplementation(
            one.kind, one.name, one.text, one.digest, one.links, project=provider.project, role=role
        )

    @functools.cache  # noqa: B019
    def protocol(self, key: str, pass_: str) -> Linked:
        """The BenchmarkProtocol of that key for a pass."""
        protocol = self._catalog.protocols[key]

        def fill(text: str) -> str:
            return text.replace("{timed}", protocol.passes[pass_]).replace("{pass}", pass_)

        return linked(
            BenchmarkProtocol.model_validate(
                {
                    "metadata": {"name": slug(fill(protocol.name)), "title": fill(protocol.title)},
                    "spec": {
                        "harness": {"name": "Liger-Kernel benchmark scripts", "repository": REPOSITORY},
                        "measurement": {
                            "timer": protocol.timer,
                            "setupIncluded": protocol.setup_included,
                            "primaryStatistic": protocol.primary_statistic,
                        },
                        "comparability": {"family": "liger_kernel_bench", "notes": fill(protocol.notes)},
                    },
                }
            )
        )

    @functools.cache  # noqa: B019
    def environment(self, gpu_name: str, count: int = 1) -> Linked:
        """The ExecutionEnvironment of a GPU, hardware alone; `count` where several measured together."""
        gpu = self._catalog.gpu_names[gpu_name]
        several = f"-x{count}" if count > 1 else ""
        return linked(
            ExecutionEnvironment.model_validate(
                {
                    "metadata": {
                        "name": slug(f"liger-bench-{gpu_name}{several}"),
                        "title": f"Liger benchmark host · {f'{count} × ' if count > 1 else ''}"
                        f"{gpu_name.removeprefix('NVIDIA ')}",
                    },
                    "spec": {
                        "hardware": {
                            "vendor": gpu.vendor,
                            "product": gpu.product,
                            "formFactor": gpu.names[gpu_name] or None,
                            "architecture": gpu.architecture,
                            "count": count if count > 1 else None,
                        }
                    },
                }
            )
        )


def _operation(operation: Operation, source: str) -> OperationSpec:
    commit, _, path = source.partition(":")
    url = f"{REPOSITORY}/blob/{commit}/{path}" if path else f"{REPOSITORY}/commit/{commit}"
    axes: dict[str, dict[str, str]] = {axis: {"role": "variable"} for axis in operation.signature_axes()}
    axes |= {axis: {"role": "derived", "expression": text} for axis, text in operation.derived.items()}
    return OperationSpec.model_validate(
        {
            "metadata": {
                "name": operation.slug,
                "title": operation.title,
                "description": operation.description,
                "sourceRefs": [{"url": url}] if source else None,
            },
            "spec": {
                "family": operation.family,
                "axes": axes,
                "inputs": [_parameter(tensor) for tensor in operation.inputs],
                "outputs": [_parameter(tensor) for tensor in operation.outputs],
                "semantics": {"mutation": operation.mutation},
            },
        }
    )


def _parameter(tensor: Tensor) -> dict[str, Any]:
    return {"name": tensor.name, "tensor": {"shape": list(tensor.shape), "dtype": tensor.dtype}}
