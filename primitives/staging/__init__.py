# SPDX-License-Identifier: Apache-2.0
"""From a Python function to a program: static arguments, microbatches, host functions, measurement.

These functions wrap a step of your own. Loops, optimisers and models stay with you and with the
libraries that you choose.
"""

from ._accumulate import accumulate
from ._compiled_step import CompiledStep, compiled_step
from ._fold_axis import fold_axis
from ._frozen import Frozen, freeze, thaw
from ._to_host import to_host

__all__ = [
    "CompiledStep",
    "Frozen",
    "accumulate",
    "compiled_step",
    "fold_axis",
    "freeze",
    "thaw",
    "to_host",
]
