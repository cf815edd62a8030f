# SPDX-License-Identifier: Apache-2.0
"""From a Python function to a program: static arguments, microbatches, host functions, measurement.

These functions wrap a step of your own. Loops, optimisers and models stay with you and with the
libraries that you choose.
"""

from ._compiled_step import CompiledStep, compiled_step
from ._frozen import Frozen, freeze, thaw

__all__ = ["CompiledStep", "Frozen", "compiled_step", "freeze", "thaw"]
