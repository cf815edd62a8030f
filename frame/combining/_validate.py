# SPDX-License-Identifier: Apache-2.0
"""Whether the keys of a merge are distinct, where one wants them to be."""

from pandas.errors import MergeError

from ... import primitives
from ..table._table import Table
from ..table._tracing import is_in_jit
from ._row_pairs import Keys

VALIDATIONS = {
    "one_to_one": "1:1",
    "one_to_many": "1:m",
    "many_to_one": "m:1",
    "many_to_many": "m:m",
}


def check_distinct(
    validate: str, left_keys: Keys, right_keys: Keys, left: Table, right: Table
) -> None:
    """Raises where keys are not distinct on a side that a merge wants them to be.

    Raises:
        MergeError: they are not.
        NotImplementedError: inside `jit`, where no error can depend on values.
        ValueError: there is no such check.
    """
    relation = VALIDATIONS.get(validate, validate)
    if relation not in VALIDATIONS.values():
        known = [*VALIDATIONS.values(), *VALIDATIONS]
        raise ValueError(f'"{validate}" is not a valid argument. Valid arguments are: {known}')
    if is_in_jit(left_keys, right_keys, left.num_rows, right.num_rows):
        raise NotImplementedError(
            "merge: validate= cannot raise inside jit. Check the keys before, with is_unique."
        )
    sides = {"left": (left_keys, left), "right": (right_keys, right)}
    wanted = [
        side for side, letter in zip(sides, relation.split(":"), strict=True) if letter == "1"
    ]
    doubled = [side for side in wanted if not are_distinct(*sides[side])]
    if doubled:
        name = next(name for name, short in VALIDATIONS.items() if short == relation)
        where = f"{doubled[0]} dataset"
        if len(doubled) > 1:
            where = "either left or right dataset"
        raise MergeError(
            f"Merge keys are not unique in {where}; not a {name.replace('_', '-')} merge"
        )


def are_distinct(keys: Keys, table: Table) -> bool:
    """Whether no two rows of a table have the same keys."""
    num_rows = table.num_rows_on_host
    groups = primitives.factorize(
        keys, capacity=table.capacity, num_valid=num_rows, **table.layout.on_mesh
    )
    return int(groups.count) == num_rows
