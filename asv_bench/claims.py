# SPDX-License-Identifier: Apache-2.0
"""The library's claims of speed: pairs of measurements with a factor between them.

The claims apply to 10 million rows on two cores, and 4 million over 8 devices.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from scenarios import FEW_AND_MANY, MESH_REDUCE, MESH_SORT, Case

CLAIM_ROWS = 10_000_000


class Claim(NamedTuple):
    """Claims that `slow` takes at least `factor` times as long as `fast`."""

    fast: Case
    slow: Case
    factor: float

    def __str__(self) -> str:
        fast, slow = self.fast, self.slow
        subject = f"{fast.operation} {fast.dtype}"
        if fast.distribution != "uniform":
            subject += f" {fast.distribution}"
        if fast.implementation == slow.implementation and self.factor < 1:
            return f"{subject} <= {1 / self.factor:g}x its own time on {slow.distribution} keys"
        if fast.implementation == slow.implementation:
            return f"{subject} >= {self.factor:g}x its own speed on {slow.distribution} keys"
        if self.factor < 1:
            return f"{subject} <= {1 / self.factor:g}x the time of {slow.implementation}"
        return f"{subject} >= {self.factor:g}x {slow.implementation}"

    def measured(self, ratio: float) -> str:
        """Formats a ratio of `slow` to `fast` in the direction of the claim."""
        return f"{1 / ratio if self.factor < 1 else ratio:.2f}x"


def _against(
    operation: str,
    dtypes: tuple[str, ...],
    factors: Mapping[str, float],
    distribution: str = "uniform",
) -> Iterator[Claim]:
    for dtype in dtypes:
        for implementation, factor in factors.items():
            fast = Case(operation, dtype, distribution, "jaxframes")
            yield Claim(fast, fast._replace(implementation=implementation), factor)


def _of_few_bits(operation: str) -> Claim:
    fast = Case(operation, "int64", "sixteen_bits", "jaxframes")
    return Claim(fast, fast._replace(distribution="uniform"), 3)


def _on_skewed_keys(distribution: str) -> Claim:
    uniform = Case(MESH_REDUCE, "int64", "uniform", "jaxframes")
    return Claim(uniform._replace(distribution=distribution), uniform, 1 / 1.3)


CLAIMS = (
    *_against(
        "radix_argsort",
        ("int32", "uint32", "float32"),
        {"jnp": 20, "numpy_stable": 3, "polars": 2},
    ),
    *_against("radix_argsort", ("int64", "float64"), {"jnp": 10, "numpy_stable": 2, "polars": 1}),
    *_against("radix_sort", ("int32",), {"jnp": 6, "numpy": 1 / 1.5}),
    _of_few_bits("radix_argsort"),
    _of_few_bits("radix_sort"),
    *_against("segmented_scan", ("int32", "float32"), {"associative_scan": 3}),
    *_against("segment_sum of many", ("int32",), {"jnp": 1, "numpy": 1}),
    *_against("histogram", ("float32", "float64"), {"numpy": 3}),
    *_against("digit_histogram", ("uint8",), {"numpy": 1}),
    *_against(MESH_SORT, ("int32",), {"xla": 8}),
    *_against("compact", ("int32",), {"jnp": 20}),
    *_against("unique", ("int32", "int64"), {"jnp": 10}),
    *(
        claim
        for name in FEW_AND_MANY
        for claim in _against("factorize", ("int64",), {"pandas": 3}, name)
    ),
    *_against("isin", ("int64",), {"numpy": 5, "pandas": 1.5}),
    *_against("join", ("int64",), {"pandas": 1, "polars": 1}),
    *_against("join many to many", ("int64",), {"pandas": 2}),
    *_against("cross join", ("int64",), {"pandas": 1}),
    *_against("frame sort_values", ("int64", "float64"), {"pandas": 4, "polars": 1.5}),
    *(
        claim
        for name in ("dense_thousand", "dense_million", "thousand_values", "million_values")
        for claim in _against("frame groupby sum", ("int64",), {"pandas": 5, "polars": 2}, name)
    ),
    *_against("frame groupby strings", ("int64",), {"pandas": 5, "polars": 2}),
    *_against("frame merge", ("int64",), {"pandas": 1, "polars": 1}),
    *_against("frame merge many to many", ("int64",), {"pandas": 2}),
    *_against("frame merge left", ("int64",), {"pandas": 2}, "dense_million"),
    *_against("frame filter", ("int64",), {"pandas": 2}),
    *_against("frame filter by loc", ("int64",), {"pandas": 2}),
    *_against("frame apply rows", ("int64",), {"pandas": 200}),
    *(_on_skewed_keys(name) for name in ("zipf_1.1", "half_one_key")),
)
