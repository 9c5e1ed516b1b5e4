# SPDX-License-Identifier: BSD-3-Clause
"""The scenarios, a module for each part of a document."""
