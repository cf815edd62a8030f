# SPDX-License-Identifier: Apache-2.0
"""The CUDA kernels of jaxframes, for JAX with CUDA 13: one shared library.

`jaxframes` finds it here and registers its targets; there is nothing to import.
"""
