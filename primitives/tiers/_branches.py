# SPDX-License-Identifier: Apache-2.0
"""Conditionals between programs: in NumPy, and on all devices of a mesh."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ._elementwise_rules import HostArray
from ._equal_rounding import NotInterpretable
from ._loops import Body
from ._shards import agreed, differs, each_alone


class Branches(NamedTuple):
    """A conditional. A branch that cannot be interpreted raises when it is taken."""

    programs: Sequence[Body | NotInterpretable]

    def __call__(self, index: HostArray, *arrays: HostArray) -> list[HostArray]:
        return self._chosen(index)(arrays)

    @property
    def is_collective(self) -> bool:
        """Whether all devices must take part."""
        return any(
            not isinstance(one, NotInterpretable) and one.is_collective for one in self.programs
        )

    def over_shards(self, index: Any, *arrays: Any) -> list[Any]:
        """The conditional on all devices of a mesh: together if they take the same branch."""
        if differs(index) and not self.is_collective:
            return each_alone(self, [index, *arrays])
        return self._chosen(agreed(index, "a branch")).over_shards(arrays)

    def _chosen(self, index: HostArray) -> Any:
        program = self.programs[min(max(int(index), 0), len(self.programs) - 1)]
        if isinstance(program, NotInterpretable):
            raise program
        return program
