# SPDX-License-Identifier: Apache-2.0
"""The CUDA kernels: a package of their own, found where it is installed.

`jaxframes-cuda13` holds one shared library. Registering its targets needs no GPU, so that programs
for GPU can be compiled on any machine.
"""

import ctypes
import functools
import importlib.util
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...contract._platform import traced_for
from ...contract._typing import Array
from ._foreign import ResultShape, call
from ._loading import Library, found_in, switch, warn_once

# True where XLA's versions are wanted, to compare them. JAX's caches tell its values apart.
without_cuda_kernels = jax.make_user_context(False)

PACKAGES = ("jaxframes_cuda13",)
LIBRARY_NAME = "libjaxframes_cuda_kernels.so"
_INT64, _INT32 = ctypes.c_int64, ctypes.c_int32
LIBRARY = Library(
    platform="CUDA",
    version_function="jaxframes_cuda_kernels_abi_version",
    version=4,
    targets=(
        "jaxframes_cuda_radix_sort_keys_v1",
        "jaxframes_cuda_radix_argsort_v1",
        "jaxframes_cuda_radix_sort_pairs_v2",
        "jaxframes_cuda_radix_sort_rows_v1",
        "jaxframes_cuda_bucket_order_v1",
        "jaxframes_cuda_top_k_v1",
        "jaxframes_cuda_merge_v1",
        "jaxframes_cuda_search_v1",
        "jaxframes_cuda_count_flags_v1",
        "jaxframes_cuda_flagged_rows_v1",
        "jaxframes_cuda_repeat_rows_v2",
        "jaxframes_cuda_segmented_scan_v1",
        "jaxframes_cuda_reduce_by_key_v3",
        "jaxframes_cuda_match_rows_v1",
        "jaxframes_cuda_segment_sum_v1",
        "jaxframes_cuda_segment_statistic_v1",
        "jaxframes_cuda_segment_reduce_v1",
        "jaxframes_cuda_histogram_v1",
        "jaxframes_cuda_pairwise_sum_v1",
    ),
    functions={
        "jaxframes_cuda_driver_is_too_old": (_INT32, ()),
        "jaxframes_cuda_radix_sort_scratch_bytes": (_INT64, (_INT64, _INT32, _INT32, _INT32)),
        "jaxframes_cuda_bucket_order_scratch_bytes": (_INT64, (_INT64, _INT64)),
        "jaxframes_cuda_top_k_scratch_bytes": (_INT64, (_INT64, _INT64)),
        "jaxframes_cuda_repeat_rows_scratch_bytes": (_INT64, (_INT64, _INT64)),
        "jaxframes_cuda_segmented_scan_scratch_bytes": (_INT64, (_INT64, _INT32)),
        "jaxframes_cuda_reduce_by_key_scratch_bytes": (_INT64, (_INT64, _INT32)),
        "jaxframes_cuda_match_rows_scratch_bytes": (_INT64, (_INT64,)),
        "jaxframes_cuda_segment_sum_scratch_bytes": (_INT64, (_INT64, _INT64, _INT32)),
        "jaxframes_cuda_segment_statistic_scratch_bytes": (_INT64, (_INT64, _INT64, _INT32)),
        "jaxframes_cuda_pairwise_sum_scratch_bytes": (_INT64, (_INT64, _INT32)),
    },
)

# By name, without what all names share and the version.
_TARGETS = {
    target.removeprefix("jaxframes_cuda_").rpartition("_v")[0]: target for target in LIBRARY.targets
}


class CudaKernels(NamedTuple):
    """The loaded library, or None; and the reason. `is_wanted`: it could have been there."""

    library: ctypes.CDLL | None
    reason: str
    is_wanted: bool


@functools.cache
def load_cuda() -> CudaKernels:
    """Loads the CUDA kernels on the first call."""
    if switch() == "xla":
        return CudaKernels(None, "JAXFRAMES_KERNELS=xla disables the CUDA kernels.", False)
    path = _find()
    if path is None:
        reason = "jaxframes-cuda13 is not installed. Install jaxframes[cuda13]."
        return CudaKernels(None, reason, True)
    try:
        library = LIBRARY.open(path)
        if library.jaxframes_cuda_driver_is_too_old():
            raise OSError("the driver of the GPU is older than CUDA 13")
    except Exception as error:
        reason = f"{path.name} of {path.parent.name} does not load: {error}. Reinstall it."
        return CudaKernels(None, reason, True)
    return CudaKernels(library, f"{path.name} of {path.parent.name} is loaded.", False)


def _find() -> Path | None:
    specs = map(importlib.util.find_spec, PACKAGES)
    folders = [(spec and spec.submodule_search_locations) or () for spec in specs]
    return found_in(itertools.chain(*folders), LIBRARY_NAME)


@functools.cache
def _runs_on_cuda() -> bool:
    if jax.default_backend() != "gpu":
        return False
    return "cuda" in jax.devices()[0].client.platform_version.lower()


def has_cuda_kernels() -> bool:
    """Whether programs for CUDA contain the kernels; warns once if a GPU lacks them."""
    if without_cuda_kernels.value:
        return False
    kernels = load_cuda()
    if kernels.is_wanted and (traced_for.value == "cuda" or _runs_on_cuda()):
        warn_once("CUDA kernels", kernels.reason)
    return kernels.library is not None


def on_cuda(kernel: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """The argument of `by_platform` that chooses a kernel on CUDA, if there are kernels."""
    return {"cuda": kernel} if has_cuda_kernels() else {}


def call_on_cuda(
    name: str,
    arrays: Sequence[Array],
    results: Sequence[ResultShape],
    scratch: Sequence[int] | None,
    more_results: Sequence[ResultShape] = (),
    **attributes: np.generic,
) -> tuple[Array, ...]:
    """Calls a CUDA kernel on one row of a batch; see `call`.

    Args:
        name: the name of the target, without what all names share and its version.
        arrays: the arguments, each with a leading batch axis of length one.
        results: shape and dtype of each result, without the batch axis.
        scratch: the arguments of the function that says how many bytes of scratch memory the
            target needs, a result after the others; None for a target that needs none.
        more_results: results of any number, which a target has after its scratch memory.
        attributes: NumPy scalars.
    """
    target = _TARGETS[name]
    if scratch is None:
        return call(target, arrays, results, **attributes)
    all_results = [*results, scratch_of(name, scratch), *more_results]
    found = call(target, arrays, all_results, **attributes)
    return *found[: len(results)], *found[len(results) + 1 :]


def scratch_of(name: str, arguments: Sequence[int]) -> ResultShape:
    """The scratch memory of a kernel, as a result."""
    library = load_cuda().library
    assert library is not None
    num_bytes = getattr(library, f"jaxframes_cuda_{name}_scratch_bytes")(*arguments)
    return (num_bytes,), jnp.uint8
