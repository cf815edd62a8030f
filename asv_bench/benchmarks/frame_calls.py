# SPDX-License-Identifier: Apache-2.0
"""Fifteen common calls of a frame: the compilation of the first call, and peak memory."""

import time

import jax

from .common_calls import CALLS, call_columns
from .compile_costs import compile_costs
from .measuring import axis, use_devices


def prepared(call, rows):
    """A call on new frames that waits for its result."""
    use_devices(1)
    from jaxframes import frame

    tables = {
        name: jax.block_until_ready(frame.JaxFrame(columns))
        for name, columns in call_columns(rows).items()
    }
    return lambda: jax.block_until_ready(CALLS[call](frame, tables))


class FirstCall:
    """What does the first call in a process compile, and how long does that take?"""

    params = (axis(100_000), axis(*CALLS))
    param_names = ("rows", "call")

    def setup(self, rows, call):
        run = prepared(call, rows)
        with compile_costs() as costs:
            start = time.perf_counter()
            run()
            self.seconds = time.perf_counter() - start
        self.costs = costs.as_record()

    def track_seconds(self, rows, call):
        return self.seconds

    def track_compile_seconds(self, rows, call):
        return self.costs["compile_seconds"]

    def track_programs(self, rows, call):
        return self.costs["programs"]

    def track_traces(self, rows, call):
        return self.costs["traces"]

    track_seconds.unit = track_compile_seconds.unit = "seconds"
    track_programs.unit = "programs"
    track_traces.unit = "traces"


class CallMemory:
    """How much memory does a call take, with its arguments and its result?"""

    params = (axis(1_000_000), axis("sort_values", "merge", "groupby two mean"))
    param_names = ("rows", "call")

    def setup(self, rows, call):
        self.run = prepared(call, rows)
        self.run()

    def peakmem_call(self, rows, call):
        self.run()
