# SPDX-License-Identifier: Apache-2.0
"""The pandas-compatible layer over `jaxframes.primitives`."""

from ..primitives import CapacityError
from ._frame import JaxFrame, JaxSeries

__all__ = ["CapacityError", "JaxFrame", "JaxSeries"]
