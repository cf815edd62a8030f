# SPDX-License-Identifier: Apache-2.0
"""Tables of figures within pages that people write."""

from collections.abc import Mapping


def with_tables(text: str, tables: Mapping[str, str]) -> str:
    """A page with new tables in Markdown, each between two comments that have its name."""
    for name, table in tables.items():
        begin, end = (f"% {word} of the table {name}\n" for word in ("begin", "end"))
        before, _, rest = text.partition(begin)
        assert end in rest, name
        _, _, after = rest.partition(end)
        text = f"{before}{begin}\n{table}\n{end}{after}"
    return text
