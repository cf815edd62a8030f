# SPDX-License-Identifier: Apache-2.0
"""Random words in NumPy: Threefry with two words of 32 bits and 20 rounds.

Salmon, Moraes, Dror and Shaw (2011), "Parallel random numbers: as easy as 1, 2, 3".
"""

import numpy as np

from ._elementwise_rules import Equation, HostArray, HostStep, rule

_PARITY = np.uint32(0x1BD11BDA)
# The rotations of four rounds, and of the next four.
_ROTATIONS = (13, 15, 26, 6), (17, 29, 16, 24)
_GROUPS = 5


@rule("threefry2x32")
def _threefry(equation: Equation) -> HostStep | None:
    del equation
    return _words


def _words(key: HostArray, other: HostArray, x: HostArray, y: HostArray) -> tuple[HostArray, ...]:
    keys = key, other, key ^ other ^ _PARITY
    x, y = x + key, y + other
    for group in range(_GROUPS):
        for bits in _ROTATIONS[group % 2]:
            x = x + y
            y = (y << np.uint32(bits)) | (y >> np.uint32(32 - bits))
            y = y ^ x
        x = x + keys[(group + 1) % 3]
        y = y + keys[(group + 2) % 3] + np.uint32(group + 1)
    return x, y
