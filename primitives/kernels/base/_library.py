# SPDX-License-Identifier: Apache-2.0
"""Finds, loads and registers the shared library of C++ kernels."""

import ctypes
import functools
import os
import sys
import warnings
from pathlib import Path
from typing import NamedTuple

import jax

LIBRARY_NAME = "libjaxframes_kernels.so"
ABI_VERSION = 1
TARGETS = (
    "jaxframes_radix_sort_keys_v1",
    "jaxframes_radix_argsort_v1",
    "jaxframes_radix_sort_pairs_v1",
    "jaxframes_radix_sort_rows_v1",
    "jaxframes_merge_v1",
    "jaxframes_merge_keys_v1",
    "jaxframes_top_k_v1",
    "jaxframes_segment_top_k_v1",
    "jaxframes_count_flags_v1",
    "jaxframes_flagged_rows_v1",
    "jaxframes_gather_rows_v1",
    "jaxframes_segmented_scan_v1",
    "jaxframes_histogram_v1",
    "jaxframes_factorize_v1",
    "jaxframes_group_sums_v1",
    "jaxframes_key_table_v1",
    "jaxframes_look_up_v1",
    "jaxframes_matched_rows_v1",
    "jaxframes_match_v2",
    "jaxframes_pairs_v1",
    "jaxframes_membership_v1",
    "jaxframes_segment_sum_v1",
    "jaxframes_segment_count_v1",
    "jaxframes_segment_sums_v2",
    "jaxframes_run_nunique_v1",
    "jaxframes_integer_range_v1",
    "jaxframes_pairwise_sum_v1",
    "jaxframes_sum_of_squared_distances_v1",
)


class Backend(NamedTuple):
    """The implementation of kernels on CPU, and the reason for it."""

    cpu: str
    reason: str


def switch() -> str:
    """The value of `JAXFRAMES_KERNELS`: "native" for kernels where there are any, or "xla"."""
    value = os.environ.get("JAXFRAMES_KERNELS", "native")
    if value not in ("native", "xla"):
        raise ValueError(f"JAXFRAMES_KERNELS must be 'native' or 'xla', got {value!r}.")
    return value


@functools.cache
def load() -> tuple[ctypes.CDLL | None, Backend]:
    """Loads the kernels on the first call; `None` if the XLA versions are used."""
    if switch() == "xla":
        return None, Backend("xla", "JAXFRAMES_KERNELS=xla disables the C++ kernels.")
    path = _find()
    if path is None:
        reason = (
            f"{LIBRARY_NAME} is not installed: no C++17 compiler was found during the "
            "installation. Install one and reinstall jaxframes."
        )
        return None, Backend("xla", reason)
    try:
        library = ctypes.CDLL(str(path))
        built_for = library.jaxframes_kernels_abi_version()
        if built_for != ABI_VERSION:
            raise OSError(f"it has version {built_for} of the interface, not {ABI_VERSION}")
        library.jaxframes_radix_sort_scratch_bytes.restype = ctypes.c_int64
        library.jaxframes_radix_sort_scratch_bytes.argtypes = [
            ctypes.c_int64,
            ctypes.c_int64,
            ctypes.c_int32,
            ctypes.c_int32,
        ]
        library.jaxframes_radix_sort_rows_scratch_bytes.restype = ctypes.c_int64
        library.jaxframes_radix_sort_rows_scratch_bytes.argtypes = [
            ctypes.c_int64,
            ctypes.c_int64,
            ctypes.c_int32,
        ]
        library.jaxframes_factorize_scratch_bytes.restype = ctypes.c_int64
        library.jaxframes_factorize_scratch_bytes.argtypes = [ctypes.c_int64, ctypes.c_int32]
        library.jaxframes_group_sums_scratch_bytes.restype = ctypes.c_int64
        library.jaxframes_group_sums_scratch_bytes.argtypes = [ctypes.c_int64, ctypes.c_int32]
        library.jaxframes_join_scratch_bytes.restype = ctypes.c_int64
        library.jaxframes_join_scratch_bytes.argtypes = [ctypes.c_int64, ctypes.c_int32]
        library.jaxframes_call_handler.restype = ctypes.c_int
        library.jaxframes_flush_subnormals.restype = ctypes.c_int
        library.jaxframes_flush_subnormals.argtypes = [ctypes.c_int]
        for target in TARGETS:
            handler = jax.ffi.pycapsule(getattr(library, target))
            jax.ffi.register_ffi_target(target, handler, platform="cpu")
    except Exception as error:
        return None, Backend("xla", f"{LIBRARY_NAME} does not load: {error}. Reinstall jaxframes.")
    return library, Backend("native", f"{LIBRARY_NAME} is loaded.")


def _find() -> Path | None:
    # The library is in the folder of `kernels`. An editable install has the sources in one folder
    # and the built library in another; both are on the package's path.
    kernels = sys.modules[__name__.rsplit(".", 2)[0]]
    for folder in kernels.__path__:
        path = Path(folder) / LIBRARY_NAME
        if path.exists():
            return path
    return None


@functools.cache
def _warn_once(reason: str) -> None:
    warnings.warn(
        f"jaxframes: the portable XLA versions replace the C++ kernels. {reason} "
        "Set JAXFRAMES_KERNELS=xla to choose this and silence the warning.",
        RuntimeWarning,
        stacklevel=2,
    )


def is_native() -> bool:
    """Whether the C++ kernels are used on CPU; warns once if they are missing."""
    library, backend = load()
    if library is None and not backend.reason.startswith("JAXFRAMES_KERNELS"):
        _warn_once(backend.reason)
    return library is not None


def backend() -> Backend:
    """Reports the implementation of kernels on CPU, and the reason for it.

    On GPU and TPU XLA runs every op. On CPU the C++ kernels run if they are installed, and
    otherwise the portable XLA definition of each op; the results have the same bits.

    Returns:
        `Backend(cpu, reason)` with `cpu` either `"native"` or `"xla"`.

    Example:
        >>> from jaxframes import primitives
        >>> primitives.backend().cpu in ("native", "xla")
        True
    """
    return load()[1]
