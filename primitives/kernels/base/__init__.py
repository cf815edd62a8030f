# SPDX-License-Identifier: Apache-2.0
"""The shared parts of all kernels: the library and its calls, threads, memory, key orders."""
