# SPDX-License-Identifier: Apache-2.0
"""Parallel primitives for JAX programs, on one device or a mesh."""

from . import collective, local
from ._arguments import CapacityError
from .kernels._library import Backend, backend

__all__ = ["Backend", "CapacityError", "backend", "collective", "local"]
