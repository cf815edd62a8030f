# SPDX-License-Identifier: Apache-2.0
"""What all rooms of kernels share: the library and its calls, threads, memory, orders of keys."""
