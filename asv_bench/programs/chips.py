# SPDX-License-Identifier: Apache-2.0
"""The chips that programs are compiled for."""

from typing import NamedTuple


class Tpu(NamedTuple):
    """A TPU, and how JAX describes one.

    Attributes:
        topology: as `jax.experimental.topologies` names it.
        accelerator: the kind of machine that the compiler is told of.
        hertz: cycles a second.
        hbm: bytes a second between HBM and the core, by Cloud TPU's specifications.
    """

    topology: str
    accelerator: str
    hertz: float
    hbm: float

    def cycles_of_bytes(self, num_bytes: float) -> float:
        """Cycles in which HBM reads or writes so many bytes."""
        return num_bytes / self.hbm * self.hertz


TPUS = {
    "v5e": Tpu("v5e:2x2", "v5litepod-4", 1.5e9, 8.19e11),
    "v6e": Tpu("v6e:2x2", "v6e-4", 1.75e9, 1.64e12),
    "v5p": Tpu("v5p:2x2x1", "v5p-8", 1.75e9, 2.765e12),
}
