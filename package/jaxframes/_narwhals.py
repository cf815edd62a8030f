# SPDX-License-Identifier: Apache-2.0
"""The plugin that narwhals finds by its entry point; `backend="jaxframes"` in narwhals' functions.

narwhals loads it for every object that it does not know, so it imports nothing.
"""

import sys
from typing import Any

NATIVE_PACKAGE = "jaxframes"


def is_native(native_object: object) -> bool:
    """Whether an object is a frame, a series or a plan of ours."""
    frame: Any = sys.modules.get("jaxframes.frame")
    kinds = () if frame is None else (frame.JaxFrame, frame.JaxSeries, frame.LazyFrame)
    return isinstance(native_object, kinds)


def __narwhals_namespace__(version: Any) -> Any:
    from .frame.io._narwhals import narwhals_namespace

    return narwhals_namespace(version)
