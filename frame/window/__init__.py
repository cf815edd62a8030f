# SPDX-License-Identifier: Apache-2.0
"""rolling, expanding, cumsum, shift and diff."""
