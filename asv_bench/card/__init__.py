# SPDX-License-Identifier: Apache-2.0
"""What runs on a card: the kernels' bits, their times beside those of others, and a sanitizer."""
