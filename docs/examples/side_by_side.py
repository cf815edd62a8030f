# SPDX-License-Identifier: Apache-2.0
"""Two forms of one computation, timed in turn."""

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

import jax

OURS, PLAIN = "jaxframes", "jax.numpy"


def seconds_of(
    forms: Mapping[str, Callable[..., Any]], *args: Any, repeats: int = 5
) -> dict[str, float]:
    """Processor seconds of each compiled form: the median of several calls, taken in turn.

    Processor time counts all cores, and other programs on the machine matter little for it.
    """
    compiled = {name: jax.jit(form) for name, form in forms.items()}
    for form in compiled.values():
        jax.block_until_ready(form(*args))
    seconds: dict[str, list[float]] = {name: [] for name in compiled}
    for _ in range(repeats):
        for name, form in compiled.items():
            start = time.process_time()
            jax.block_until_ready(form(*args))
            seconds[name].append(time.process_time() - start)
    return {name: statistics.median(of_form) for name, of_form in seconds.items()}


def table(cases: Mapping[str, Mapping[str, float]]) -> str:
    """A line for each case: the milliseconds of each form, and the ratio to the first one."""
    return "\n".join(
        f"{case}: "
        + ", ".join(
            f"{form} {1e3 * of_form:.2f} ms ({of_form / next(iter(seconds.values())):.2f})"
            for form, of_form in seconds.items()
        )
        for case, seconds in cases.items()
    )
