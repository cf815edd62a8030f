# SPDX-License-Identifier: Apache-2.0
"""What calls cost in compilation, as JAX reports it."""

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import jax.monitoring

# JAX reports each phase of a new program at its end, with its duration.
PHASES = {
    "/jax/core/compile/jaxpr_trace_duration": "trace",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
    "/jax/core/compile/backend_compile_duration": "compile",
}


class CompileCosts:
    """The number of programs and traces, and the seconds of each phase."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(PHASES.values(), 0)
        self.seconds = dict.fromkeys(PHASES.values(), 0.0)
        # Start and duration of the phases that no later phase of their thread has enclosed yet.
        self._finished: dict[int, list[tuple[float, float]]] = defaultdict(list)

    def record(self, event: str, duration: float, **_: object) -> None:
        """Adds a phase without the time of the phases inside it: a trace may compile programs."""
        phase = PHASES.get(event)
        if phase is None:
            return
        start = time.perf_counter() - duration
        finished = self._finished[threading.get_ident()]
        inside = 0.0
        while finished and finished[-1][0] >= start:
            inside += finished.pop()[1]
        finished.append((start, duration))
        self.counts[phase] += 1
        self.seconds[phase] += max(duration - inside, 0.0)

    def as_record(self) -> dict[str, float]:
        return {
            "programs": self.counts["compile"],
            "traces": self.counts["trace"],
            **{f"{phase}_seconds": seconds for phase, seconds in self.seconds.items()},
        }


@contextmanager
def compile_costs() -> Iterator[CompileCosts]:
    """Records the costs of the calls inside a `with` block."""
    costs = CompileCosts()
    jax.monitoring.register_event_duration_secs_listener(costs.record)
    try:
        yield costs
    finally:
        jax.monitoring.unregister_event_duration_listener(costs.record)
