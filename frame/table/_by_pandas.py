# SPDX-License-Identifier: Apache-2.0
"""Rare arguments that the device has no program for: pandas computes the result on the host."""

import warnings
from collections.abc import Callable
from typing import Any

from pandas.errors import PerformanceWarning

from ._ndframe import NDFrame
from ._user_functions import as_frames, has_host


def by_pandas(owner: NDFrame, argument: str, instead: str, compute: Callable[[Any], Any]) -> Any:
    """The result that pandas computes with the rows of a frame or a series, with a warning.

    Args:
        owner: the frame or the series.
        argument: the method and the argument that need the host, for the warning and the error.
        instead: what works where there is no host: inside `jit`, in plans and over processes.
        compute: a function of the object of pandas.
    """
    if not has_host(owner._is_traced):
        raise NotImplementedError(
            f"{argument} needs rows on the host of one process, outside jit and plans. {instead}"
        )
    warnings.warn(
        f"{argument} is computed by pandas on the host, from a copy of the rows. {instead}",
        PerformanceWarning,
        stacklevel=3,
    )
    return as_frames(compute(owner.to_pandas()), owner.sharding)
