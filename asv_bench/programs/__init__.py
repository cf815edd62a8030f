# SPDX-License-Identifier: Apache-2.0
"""Programs of one device, compiled ahead of time for chips that are not here, and their costs."""
