# SPDX-License-Identifier: Apache-2.0
"""The pandas-compatible layer over `jaxframes.primitives`."""
