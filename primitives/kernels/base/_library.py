# SPDX-License-Identifier: Apache-2.0
"""Finds, loads and registers the shared library of C++ kernels for CPU."""

import ctypes
import functools
import sys
from pathlib import Path
from typing import NamedTuple

from ._cuda import load_cuda
from ._loading import Library, found_in, switch, warn_once

LIBRARY_NAME = "libjaxframes_kernels.so"
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
    "jaxframes_smallest_nodes_v1",
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
    "jaxframes_merge_scan_v1",
    "jaxframes_window_moments_v1",
)
_INT64, _INT32 = ctypes.c_int64, ctypes.c_int32
LIBRARY = Library(
    platform="cpu",
    version_function="jaxframes_kernels_abi_version",
    version=1,
    targets=TARGETS,
    functions={
        "jaxframes_radix_sort_scratch_bytes": (_INT64, (_INT64, _INT64, _INT32, _INT32)),
        "jaxframes_radix_sort_rows_scratch_bytes": (_INT64, (_INT64, _INT64, _INT32)),
        "jaxframes_factorize_scratch_bytes": (_INT64, (_INT64, _INT32)),
        "jaxframes_group_sums_scratch_bytes": (_INT64, (_INT64, _INT32)),
        "jaxframes_join_scratch_bytes": (_INT64, (_INT64, _INT32)),
        "jaxframes_flush_subnormals": (ctypes.c_int, (ctypes.c_int,)),
    },
)


class Backend(NamedTuple):
    """The implementation of kernels on CPU and on GPUs with CUDA, and the reasons for them."""

    cpu: str
    reason: str
    cuda: str = "xla"
    cuda_reason: str = ""


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
        library = LIBRARY.open(path)
        # Without types of its arguments: each call brings its own.
        library.jaxframes_call_handler.restype = ctypes.c_int
    except Exception as error:
        return None, Backend("xla", f"{LIBRARY_NAME} does not load: {error}. Reinstall jaxframes.")
    return library, Backend("native", f"{LIBRARY_NAME} is loaded.")


def _find() -> Path | None:
    # The library is in the folder of `kernels`. An editable install has the sources in one folder
    # and the built library in another; both are on the package's path.
    kernels = sys.modules[__name__.rsplit(".", 2)[0]]
    return found_in(kernels.__path__, LIBRARY_NAME)


def is_native() -> bool:
    """Whether the C++ kernels are used on CPU; warns once if they are missing."""
    library, backend = load()
    if library is None and not backend.reason.startswith("JAXFRAMES_KERNELS"):
        warn_once("C++ kernels", backend.reason)
    return library is not None


def backend() -> Backend:
    """Reports the implementation of kernels on CPU and on CUDA, and the reasons for them.

    The kernels run if they are installed, and otherwise the portable XLA definition of each op; the
    results have the same bits, apart from sums of floats on GPU. On TPU the kernels need no
    installation. `JAXFRAMES_KERNELS=xla` disables all of them.

    Returns:
        `Backend(cpu, reason, cuda, cuda_reason)` with `cpu` and `cuda` either `"native"` or
        `"xla"`.

    Example:
        >>> from jaxframes import primitives
        >>> primitives.backend().cpu in ("native", "xla")
        True
    """
    cuda = load_cuda()
    return load()[1]._replace(
        cuda="xla" if cuda.library is None else "native", cuda_reason=cuda.reason
    )
