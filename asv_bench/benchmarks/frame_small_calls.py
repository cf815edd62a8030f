# SPDX-License-Identifier: Apache-2.0
"""Common methods on few rows: the first call, the second, and the settled price beside pandas."""

import cProfile
import pstats
import time

import jax
import pandas as pd

from .measuring import axis, use_devices
from .small_calls import SMALL_CALLS, small_columns

# So many calls are interpreted at most before a program is compiled.
CALLS_TO_SETTLE = 40


def prepared(call, rows, engine):
    """A call on new tables that waits for its result."""
    use_devices(1)
    from jaxframes import frame

    module = {"jaxframes": frame, "pandas": pd}[engine]
    tables = {name: module.DataFrame(columns) for name, columns in small_columns(rows).items()}
    if engine == "pandas":
        return lambda: SMALL_CALLS[call](module, tables)
    jax.block_until_ready(list(tables.values()))
    return lambda: jax.block_until_ready(SMALL_CALLS[call](module, tables))


class FirstSmallCalls:
    """How long do the first and the second call take?"""

    params = (axis(1_000), axis(*SMALL_CALLS), axis("jaxframes", "pandas"))
    param_names = ("rows", "call", "engine")

    def setup(self, rows, call, engine):
        run = prepared(call, rows, engine)
        self.seconds = []
        for _ in range(2):
            start = time.perf_counter()
            run()
            self.seconds.append(time.perf_counter() - start)

    def track_first(self, rows, call, engine):
        return self.seconds[0]

    def track_second(self, rows, call, engine):
        return self.seconds[1]

    track_first.unit = track_second.unit = "seconds"


class SmallCalls:
    """How long does a settled call take, and how many calls of Python is it?"""

    params = (axis(1_000, 10, 10_000), axis(*SMALL_CALLS), axis("jaxframes", "pandas"))
    param_names = ("rows", "call", "engine")

    def setup(self, rows, call, engine):
        self.run = prepared(call, rows, engine)
        for _ in range(CALLS_TO_SETTLE):
            self.run()

    def time_call(self, rows, call, engine):
        self.run()

    def track_python_calls(self, rows, call, engine):
        profile = cProfile.Profile()
        profile.runcall(self.run)
        return pstats.Stats(profile).total_calls

    track_python_calls.unit = "calls"
