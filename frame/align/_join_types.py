# SPDX-License-Identifier: Apache-2.0
"""The types of joins: which rows each has, and in which order."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class JoinType:
    """A type of join, as `how=` names it.

    Attributes:
        has_matches: whether the pairs of rows with equal keys are in the result.
        keeps: whether the left and the right rows without a match are in the result.
        order: the side that gives the order of the rows: 0, 1, or None for that of the keys.
    """

    has_matches: bool
    keeps: tuple[bool, bool]
    order: int | None

    @property
    def sides_without_holes(self) -> tuple[int, ...]:
        """The sides that have a row in each row of the result."""
        return tuple(side for side in (0, 1) if not self.keeps[1 - side])

    @property
    def sides_that_lose_rows(self) -> tuple[int, ...]:
        """The sides whose rows without a match are not in the result."""
        return tuple(side for side in (0, 1) if not self.keeps[side])


JOIN_TYPES = {
    "inner": JoinType(True, (False, False), 0),
    "left": JoinType(True, (True, False), 0),
    "right": JoinType(True, (False, True), 1),
    "outer": JoinType(True, (True, True), None),
    "left_anti": JoinType(False, (True, False), 0),
    "right_anti": JoinType(False, (False, True), 1),
    "cross": JoinType(True, (False, False), 0),
}
