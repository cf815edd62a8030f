# SPDX-License-Identifier: Apache-2.0
"""Accessors that take no attributes."""


class ReadOnly:
    """An accessor: each access makes a new one, so an attribute that is set would be lost."""

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_"):
            raise AttributeError(
                f"You cannot add any new attribute '{name}', got {value!r:.60}. Assign a column of "
                "a frame instead."
            )
        object.__setattr__(self, name, value)
