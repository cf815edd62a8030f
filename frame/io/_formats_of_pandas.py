# SPDX-License-Identifier: Apache-2.0
"""Files, databases and plots that are pandas' own: it reads, writes and draws rows on the host."""

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pandas as pd

from ..table._ndframe import FrameBase, NDFrame
from ..table._types import Sharding
from ..table._user_functions import as_frames

_NAMES = """
read_clipboard read_excel read_fwf read_hdf read_html read_iceberg read_pickle read_sas
read_spss read_sql read_sql_query read_sql_table read_stata read_xml
"""
READERS = frozenset(_NAMES.split())


@functools.cache
def reader(name: str) -> Callable[..., Any]:
    """A reader of pandas that returns frames of ours; it takes `sharding=` too."""
    read: Callable[..., Any] = getattr(pd, name)

    def read_by_pandas(*args: object, sharding: Sharding = None, **options: object) -> Any:
        return _as_ours(read(*args, **options), sharding)

    # It is pickled by its public name.
    read_by_pandas.__name__ = read_by_pandas.__qualname__ = name
    read_by_pandas.__module__ = __name__.rpartition(".io.")[0]
    read_by_pandas.__doc__ = (
        f"pandas' `{name}`, whose rows become a frame on the devices of `sharding`; see pandas for "
        "the arguments. Several tables are a dict, a list or an iterator of frames."
    )
    return read_by_pandas


def _as_ours(found: Any, sharding: Sharding) -> Any:
    """One table or several as frames of ours; what is no table as it is."""
    if isinstance(found, Mapping):
        return {label: as_frames(one, sharding) for label, one in found.items()}
    if isinstance(found, list):
        return [as_frames(one, sharding) for one in found]
    if isinstance(found, Iterator):
        return (as_frames(one, sharding) for one in found)
    return as_frames(found, sharding)


class HostFormats(NDFrame):
    """Formats and plots of frames and series that pandas makes of a copy on the host."""

    @property
    def plot(self) -> Any:
        """pandas' plots of the rows with matplotlib, such as `frame.plot.bar()`."""
        return self.to_pandas().plot

    def hist(self, *args: object, **options: object) -> Any:
        """Draws histograms with matplotlib; see pandas for the arguments."""
        return self.to_pandas().hist(*args, **options)

    def to_clipboard(self, **options: object) -> None:
        """Copies the rows as text to the clipboard; see pandas for the arguments."""
        self.to_pandas().to_clipboard(**options)

    def to_excel(self, excel_writer: object, **options: object) -> None:
        """Writes a sheet of Excel; see pandas for the arguments."""
        self.to_pandas().to_excel(excel_writer, **options)

    def to_hdf(self, path_or_buf: object, *, key: str, **options: object) -> None:
        """Writes to an HDF5 file; see pandas for the arguments."""
        self.to_pandas().to_hdf(path_or_buf, key=key, **options)

    def to_latex(self, buf: object = None, **options: object) -> str | None:
        """The rows as a table of LaTeX, which needs Jinja2; see pandas for the arguments."""
        return self.to_pandas().to_latex(buf, **options)

    def to_pickle(self, path: object, **options: object) -> None:
        """Pickles the rows as pandas' object, for `read_pickle`; `pickle.dump` keeps them ours."""
        self.to_pandas().to_pickle(path, **options)

    def to_sql(self, name: str, con: object, **options: object) -> int | None:
        """Writes the rows to a table of a database; see pandas for the arguments.

        Example:
            >>> import sqlite3
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1, 2]}).to_sql("rows", sqlite3.connect(":memory:"), index=False)
            2
        """
        return self.to_pandas().to_sql(name, con, **options)

    def to_xarray(self) -> Any:
        """An object of xarray: a dataset of a frame, an array of a series."""
        return self.to_pandas().to_xarray()


class FrameHostFormats(HostFormats, FrameBase):
    """Formats and plots of frames alone."""

    @property
    def style(self) -> Any:
        """pandas' styler of the rows, which needs Jinja2."""
        return self.to_pandas().style

    def boxplot(self, *args: object, **options: object) -> Any:
        """Draws box plots with matplotlib; see pandas for the arguments."""
        return self.to_pandas().boxplot(*args, **options)

    def to_iceberg(self, table_identifier: str, **options: object) -> None:
        """Writes the rows to a table of Iceberg; see pandas for the arguments."""
        self.to_pandas().to_iceberg(table_identifier, **options)

    def to_stata(self, path: object, **options: object) -> None:
        """Writes a file of Stata; see pandas for the arguments."""
        self.to_pandas().to_stata(path, **options)

    def to_xml(self, path_or_buffer: object = None, **options: object) -> str | None:
        """The rows as XML, which needs lxml; see pandas for the arguments."""
        return self.to_pandas().to_xml(path_or_buffer, **options)
