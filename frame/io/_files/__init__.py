# SPDX-License-Identifier: Apache-2.0
"""Files: where they are, how they appear, what they hold, and whether they are sound."""
