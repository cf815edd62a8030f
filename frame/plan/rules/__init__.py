# SPDX-License-Identifier: Apache-2.0
"""The rules of the optimiser: each maps a plan to a plan with the same result."""
