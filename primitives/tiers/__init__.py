# SPDX-License-Identifier: Apache-2.0
"""The tiers of execution: programs are interpreted with NumPy until a compilation pays."""
