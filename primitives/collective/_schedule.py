# SPDX-License-Identifier: Apache-2.0
"""The order of forward and backward passes in a pipeline."""

import dataclasses
from typing import Literal, NamedTuple

from ..contract._arguments import as_static_int


class Pass(NamedTuple):
    """One pass of a microbatch through a stage: forward, "F", or backward, "B"."""

    tick: int
    stage: int
    kind: Literal["F", "B"]
    microbatch: int


@dataclasses.dataclass(frozen=True)
class Schedule:
    """The passes of a pipeline, in the order of ticks. Its text is a table of stages and ticks.

    In a tick a stage makes at most one forward and one backward pass, and sends their results to
    its neighbours.

    Attributes:
        num_stages: number of stages.
        num_microbatches: number of microbatches.
        passes: every pass, sorted by tick, then stage; a forward pass before a backward one.
    """

    num_stages: int
    num_microbatches: int
    passes: tuple[Pass, ...]

    @property
    def num_ticks(self) -> int:
        """The number of ticks."""
        return 1 + max(step.tick for step in self.passes)

    @property
    def num_in_flight(self) -> int:
        """The most microbatches that a stage has made a forward but no backward pass for.

        The backward pass of a tick counts as later than its forward pass.
        """
        most = 0
        in_flight = [0] * self.num_stages
        for step in self.passes:
            in_flight[step.stage] += 1 if step.kind == "F" else -1
            most = max(most, *in_flight)
        return most

    @property
    def bubble_fraction(self) -> float:
        """The share of time in which a stage waits, if all passes of a kind take the same time.

        A tick without backward passes on any stage lasts as long as a forward pass, and a tick
        without forward passes as long as a backward pass.
        """
        lasting = {(step.tick, step.kind) for step in self.passes}
        return 1 - 2 * self.num_microbatches / len(lasting)

    def __str__(self) -> str:
        width = 2 * len(str(self.num_microbatches - 1)) + 3
        table = [[""] * self.num_ticks for _ in range(self.num_stages)]
        for step in self.passes:
            table[step.stage][step.tick] += f"{step.kind}{step.microbatch}"
        lines = [
            f"stage {stage}  " + "".join(cell.ljust(width) for cell in row).rstrip()
            for stage, row in enumerate(table)
        ]
        return "\n".join([*lines, f"bubble {self.bubble_fraction:.3f}"])


def schedule_1f1b(stages: int, microbatches: int) -> Schedule:
    """Returns the order of passes of `pipeline_1f1b`: one forward, one backward in each tick.

    Args:
        stages: number of stages.
        microbatches: number of microbatches.

    Returns:
        A `Schedule` of `microbatches + 2 * (stages - 1)` ticks, with at most `2 * stages - 1`
        microbatches in flight.

    Raises:
        TypeError: an argument is not an integer.
        ValueError: an argument is less than one.

    Cost:
        O(stages x microbatches) on the host.

    Guarantees:
        A microbatch passes forward through stage `s` in a later tick than through stage `s - 1`,
        and backward in a later tick than through stage `s + 1`.

    References:
        Narayanan et al. (2019), "PipeDream: Generalized pipeline parallelism for DNN training".
        Narayanan et al. (2021), "Memory-efficient pipeline-parallel DNN training".

    Example:
        >>> from jaxframes.primitives import collective
        >>> print(collective.schedule_1f1b(2, 3))
        stage 0  F0   F1   F2B0 B1   B2
        stage 1       F0B0 F1B1 F2B2
        bubble 0.250
    """
    caller = "schedule_1f1b"
    stages = as_static_int(stages, caller, "stages", 1)
    microbatches = as_static_int(microbatches, caller, "microbatches", 1)
    last = stages - 1
    passes = [
        step
        for stage in range(stages)
        for microbatch in range(microbatches)
        for step in (
            Pass(microbatch + stage, stage, "F", microbatch),
            Pass(microbatch + 2 * last - stage, stage, "B", microbatch),
        )
    ]
    passes.sort(key=lambda step: (step.tick, step.stage, step.kind == "B"))
    return Schedule(stages, microbatches, tuple(passes))
