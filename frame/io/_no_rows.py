# SPDX-License-Identifier: Apache-2.0
"""A dataset without its rows: the schema, and the categories, which no schema holds."""

import pyarrow as pa
import pyarrow.dataset as ds


def without_rows(dataset: ds.Dataset) -> pa.Table:
    """A table of the dataset's schema without rows, with the categories of the first rows."""
    schema = dataset.schema
    table = schema.empty_table()
    names = [field.name for field in schema if pa.types.is_dictionary(field.type)]
    if not names:
        return table
    # One row group is read: without these options, many at once.
    first = dataset.head(1, columns=names, batch_readahead=0, fragment_readahead=1)
    for name in names if len(first) else ():
        place = schema.names.index(name)
        table = table.set_column(place, schema.field(name), first[name].chunk(0).slice(0, 0))
    return table
