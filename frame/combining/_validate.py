# SPDX-License-Identifier: Apache-2.0
"""The `validate=` argument of a merge."""

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
    """Checks that keys are unique on the sides that `validate` names.

    Raises:
        MergeError: keys are duplicated.
        NotImplementedError: inside `jit`, where errors cannot depend on values.
        ValueError: `validate` is unknown.
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
    duplicated = [
        side
        for side, letter in zip(sides, relation.split(":"), strict=True)
        if letter == "1" and not are_distinct(*sides[side])
    ]
    if duplicated:
        name = next(name for name, short in VALIDATIONS.items() if short == relation)
        where = f"{duplicated[0]} dataset"
        if len(duplicated) > 1:
            where = "either left or right dataset"
        raise MergeError(
            f"Merge keys are not unique in {where}; not a {name.replace('_', '-')} merge"
        )


def are_distinct(keys: Keys, table: Table) -> bool:
    """Whether the keys of a table are unique."""
    num_rows = table.num_rows_on_host
    groups = primitives.factorize(
        keys, capacity=table.capacity, num_valid=num_rows, **table.layout.on_mesh
    )
    return int(groups.count) == num_rows
