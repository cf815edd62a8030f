# SPDX-License-Identifier: Apache-2.0
"""The types of joins: which rows each has, and in which order."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class JoinType:
    """A type of join: what `how=` names at the door, and all that follows from it.

    Attributes:
        how: the word for it in pandas and in the primitives.
        has_keys: whether rows are compared; if not, each row matches every other.
        has_matches: whether the pairs of rows with equal keys are in the result.
        keeps: whether the left and the right rows without a match are in the result.
        order: the side that gives the order of the rows: 0, 1, or None for that of the keys.
    """

    how: str
    has_keys: bool
    has_matches: bool
    keeps: tuple[bool, bool]
    order: int | None

    @property
    def of_swapped_sides(self) -> "JoinType":
        """The join that gives the same pairs if its sides are swapped."""
        return JOIN_TYPES[_OF_SWAPPED_SIDES.get(self.how, self.how)]

    @property
    def sides_without_holes(self) -> tuple[int, ...]:
        """The sides that have a row in each row of the result."""
        return tuple(side for side in (0, 1) if not self.keeps[1 - side])

    @property
    def sides_that_lose_rows(self) -> tuple[int, ...]:
        """The sides whose rows without a match are not in the result."""
        return tuple(side for side in (0, 1) if not self.keeps[side])


JOIN_TYPES = {
    one.how: one
    for one in (
        JoinType("inner", True, True, (False, False), 0),
        JoinType("left", True, True, (True, False), 0),
        JoinType("right", True, True, (False, True), 1),
        JoinType("outer", True, True, (True, True), None),
        JoinType("left_anti", True, False, (True, False), 0),
        JoinType("right_anti", True, False, (False, True), 1),
        JoinType("cross", False, True, (False, False), 0),
    )
}
LEFT, RIGHT_ANTI = JOIN_TYPES["left"], JOIN_TYPES["right_anti"]
_OF_SWAPPED_SIDES = {
    "left": "right", "right": "left", "left_anti": "right_anti", "right_anti": "left_anti"
}  # fmt: skip


def join_by_level(join: JoinType, side: int) -> JoinType:
    """The join of labels of several levels, those of one side, with the labels of one of them.

    As in pandas, it has the rows of this side in their order; of the other side only matches.
    """
    how = ("left", "right")[side] if join.keeps[side] else "inner"
    return dataclasses.replace(JOIN_TYPES[how], order=side)
