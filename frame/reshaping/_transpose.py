# SPDX-License-Identifier: Apache-2.0
"""`transpose` and `T`."""

from typing import Any, Self

from ..table._ndframe import FrameBase, SeriesBase


class FrameTranspose(FrameBase):
    """Transposition of a frame."""

    def transpose(self, *axes: object, copy: object = None) -> Any:
        """Swaps rows and columns.

        Row labels become column labels, so the rows pass through the host, and it is not supported
        inside `jit`. As in pandas, columns of several types give columns of objects.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1, 2], "y": [3, 4]}, index=["a", "b"]).T.to_pandas()
               a  b
            x  1  2
            y  3  4
        """
        del copy
        if self._is_traced:
            raise NotImplementedError(
                "transpose: row labels are not known inside jit. Use to_jax() and transpose arrays."
            )
        transposed = self.frame_class(self.to_pandas().transpose(*axes), sharding=self._layout)
        return transposed._with_attrs_of(self)

    @property
    def T(self) -> Any:
        """The transposed frame; see `transpose`."""
        return self.transpose()


class SeriesTranspose(SeriesBase):
    """Transposition of a series."""

    def transpose(self, *axes: object) -> Self:
        """The series itself."""
        del axes
        return self._like(self._table)

    @property
    def T(self) -> Self:
        """The series itself."""
        return self.transpose()
