# SPDX-License-Identifier: Apache-2.0
"""The global calls: an op on whole arrays and a mesh. `jaxframes.primitives` exports them."""
