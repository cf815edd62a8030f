# SPDX-License-Identifier: Apache-2.0
"""Options of XLA under which programs compile fastest.

A test runs each program a few times on a few rows, so the cheapest code is the best: without LLVM's
optimiser, from the older code generator for fusions, in one piece. jaxlib 0.11.1 dropped that
generator and its option; XLA ends the process at an option that it does not know.

As a script it prints them for XLA_FLAGS.
"""

import importlib.metadata
import re
from typing import Any

_JAXLIB = tuple(map(int, re.findall(r"\d+", importlib.metadata.version("jaxlib"))[:3]))
HAS_OLDER_GENERATOR = _JAXLIB < (0, 11, 1)

UNOPTIMISED: dict[str, Any] = {"xla_backend_optimization_level": 0}
# The older generator takes two thirds of the time. It may turn signalling NaNs of bfloat16 into
# quiet ones; programs that hold some ask for the newer one.
OLDER_GENERATOR: dict[str, Any] = (
    {"xla_cpu_use_fusion_emitters": False} if HAS_OLDER_GENERATOR else {}
)
NEWER_GENERATOR: dict[str, Any] = dict.fromkeys(OLDER_GENERATOR, True)
# For one program; only XLA_FLAGS can say in how many pieces.
QUICK = {**UNOPTIMISED, **OLDER_GENERATOR}

if __name__ == "__main__":
    options = {**QUICK, "xla_cpu_parallel_codegen_split_count": 1}
    print(*(f"--{name}={str(value).lower()}" for name, value in options.items()))
