# SPDX-License-Identifier: Apache-2.0
"""Which calls are compiled for which slices, in the order of what they tell."""

from collections.abc import Iterator
from typing import NamedTuple

from .cases import CASES
from .pipelines import PIPELINES


class Slice(NamedTuple):
    """Chips that JAX can describe without having them.

    Attributes:
        topology: as `jax.experimental.topologies` names it; "cuda" for programs that are lowered
            for GPU only.
        accelerator: the kind of machine that the compiler is told of.
    """

    topology: str
    accelerator: str


class Compilation(NamedTuple):
    """One program: a call, for a slice, with a number of rows on each chip."""

    name: str
    slice_name: str
    rows: int

    @property
    def argument(self) -> str:
        """As `compile_cases` takes it."""
        return f"{self.name},{SLICES[self.slice_name].topology},{self.rows}"


SLICES = {
    "v5e-8": Slice("v5e:2x4", "v5litepod-8"),
    "v5e-64": Slice("v5e:8x8", "v5litepod-8"),
    "v5e-256": Slice("v5e:16x16", "v5litepod-8"),
    "v6e-8": Slice("v6e:2x4", "v6e-8"),
    "cuda-8": Slice("cuda", "v5litepod-8"),
}
FEW_ROWS, MORE_ROWS, MANY_ROWS = 2**16, 2**20, 2**22
# Calls that the others are made of: a sort, an exchange, a combination by key, a join, a reduction.
MAIN = ("radix_sort", "partition", "reduce_by_key", "join", "reduce")


def compilations() -> Iterator[Compilation]:
    """All programs of the tables."""
    for name in (*CASES, *PIPELINES):
        yield Compilation(name, "cuda-8", FEW_ROWS)
    calls = (*MAIN, *PIPELINES, *(name for name in CASES if name not in MAIN))
    for slices in (("v5e-256", "v5e-64"), ("v5e-8",)):
        for name in calls:
            for slice_name in slices:
                yield Compilation(name, slice_name, FEW_ROWS)
    for rows in (MANY_ROWS, MORE_ROWS):
        for name in (*MAIN, *PIPELINES):
            for slice_name in ("v5e-8", "v5e-64", "v5e-256"):
                yield Compilation(name, slice_name, rows)
    for name in (*MAIN, *PIPELINES):
        yield Compilation(name, "v6e-8", FEW_ROWS)
