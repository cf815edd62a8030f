# SPDX-License-Identifier: Apache-2.0
"""What all floors share: arguments and their errors, key bits, types, and the operators of scans.

Nothing here is public. It imports nothing of the floors above it.
"""
