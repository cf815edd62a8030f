# SPDX-License-Identifier: Apache-2.0
"""Programs compiled ahead of time for slices of TPU, and a table of what they use."""
