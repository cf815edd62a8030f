# SPDX-License-Identifier: Apache-2.0
"""From a Python function to a program: static arguments, microbatches, host functions, measurement.

These functions wrap a step of your own. Loops, optimisers and models stay with you and with the
libraries that you choose.
"""

from ..tiers._pieces import by_pieces
from ..tiers._tiered import tiered
from ._accumulate import accumulate
from ._choose import Chosen, choose
from ._collectives import Collectives
from ._compiled_step import CompiledStep, compiled_step
from ._fold_axis import fold_axis
from ._frozen import Frozen, freeze, thaw
from ._host_map import host_map
from ._measure import Measured, measure
from ._no_retrace import RetraceError, no_retrace
from ._to_host import to_host
from ._work_store import WorkStore

__all__ = [
    "Chosen",
    "Collectives",
    "CompiledStep",
    "Frozen",
    "Measured",
    "RetraceError",
    "WorkStore",
    "accumulate",
    "by_pieces",
    "choose",
    "compiled_step",
    "fold_axis",
    "freeze",
    "host_map",
    "measure",
    "no_retrace",
    "thaw",
    "tiered",
    "to_host",
]
