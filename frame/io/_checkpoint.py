# SPDX-License-Identifier: Apache-2.0
"""Frames in the checkpoints of `shardings.save`: Parquet with types, dictionaries and labels."""

from pathlib import Path
from typing import Any

from ._conversion import SeriesConversion
from ._parquet import FrameParquet, read_parquet


class FrameCheckpoint(FrameParquet):
    """What `shardings.save` and `shardings.restore` call."""

    def _write_checkpoint(self, folder: Path) -> None:
        """Writes this process's rows into a new folder."""
        folder.mkdir(exist_ok=True)
        is_shared = self._layout.spans_processes
        self.to_parquet(folder if is_shared else folder / "part-00000.parquet")

    def _read_checkpoint(self, folder: Path) -> Any:
        """Reads a frame of the same columns, with its rows where this one has them."""
        frame: Any = read_parquet(folder, sharding=self._layout.sharding)
        if list(frame.columns) != list(self._labels):
            raise ValueError(
                "restore: a frame must have the columns of the checkpoint, "
                f"{list(frame.columns)}, got {list(self._labels)}. Restore them all, and choose "
                "afterwards."
            )
        return frame


class SeriesCheckpoint(SeriesConversion):
    """The same for a series, written as a frame of one column."""

    def _write_checkpoint(self, folder: Path) -> None:
        """Writes this process's rows into a new folder."""
        series: Any = self
        series.to_frame("values")._write_checkpoint(folder)

    def _read_checkpoint(self, folder: Path) -> Any:
        """Reads a series, with its rows where this one has them."""
        series: Any = self
        frame = series.to_frame("values")._read_checkpoint(folder)
        return frame["values"].rename(series.name)
