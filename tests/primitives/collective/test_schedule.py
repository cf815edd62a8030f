# SPDX-License-Identifier: Apache-2.0
"""The schedule of a pipeline: complete, in order, and as short as can be."""

import re

import pytest
from jaxframes.primitives import collective


@pytest.mark.parametrize("stages", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("microbatches", [1, 2, 3, 8, 13])
def test_the_schedule_is_complete_in_order_and_short(stages, microbatches):
    schedule = collective.schedule_1f1b(stages, microbatches)
    tick = {step[1:]: step.tick for step in schedule.passes}
    everything = {
        (stage, kind, microbatch)
        for stage in range(stages)
        for kind in "FB"
        for microbatch in range(microbatches)
    }
    assert set(tick) == everything
    assert len(schedule.passes) == len(everything)
    for stage, kind, microbatch in everything:
        if kind == "F" and stage > 0:
            assert tick[stage, "F", microbatch] > tick[stage - 1, "F", microbatch]
        if kind == "B" and stage < stages - 1:
            assert tick[stage, "B", microbatch] > tick[stage + 1, "B", microbatch]
        if kind == "B":
            assert tick[stage, "B", microbatch] >= tick[stage, "F", microbatch]
    # One pass of each kind in a tick of a stage.
    assert len({step[:3] for step in schedule.passes}) == len(everything)
    assert schedule.num_ticks == microbatches + 2 * (stages - 1)
    assert schedule.num_in_flight <= min(2 * stages - 1, microbatches)
    bubble = (stages - 1) / (microbatches + stages - 1)
    assert schedule.bubble_fraction == pytest.approx(bubble)
    assert str(schedule).splitlines()[-1] == f"bubble {bubble:.3f}"
    assert len(str(schedule).splitlines()) == stages + 1


@pytest.mark.checks_arguments
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 4), "schedule_1f1b: stages must be at least 1, got 0."),
        ((2, 0), "schedule_1f1b: microbatches must be at least 1, got 0."),
        ((2, 1.5), "schedule_1f1b: microbatches must be a Python integer, got float."),
    ],
)
def test_errors_of_the_schedule(arguments, message):
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(message)}$"):
        collective.schedule_1f1b(*arguments)
