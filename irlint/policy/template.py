"""The ``irlint.toml`` that ``irlint init`` writes."""

from __future__ import annotations

FILE = "irlint.toml"
TEXT = """\
# The configuration of irlint. Every key may be left out; options on the command line have the last word.
#
# RULES are codes (IRL201), the first letters of codes (IRL2) or names (broadcast-mismatch); `irlint rules` lists them.
# A GLOB without a slash fits files and folders at any depth, one with a slash starts from this folder; ** is any folders.
# Take the "# " away from the lines that you need. Keys come first, [tables] after them.

# Only these rules; without this key, all of them. Of two entries the more specific one counts.
# select = ["IRL1", "IRL2", "IRL3"]

# Not these rules.
# ignore = ["nodes-not-sorted"]

# These rules as well.
# extend-select = ["IRL201"]

# Files and folders not to check.
# exclude = ["third_party", "models/old/**"]

# The least severity that makes the run fail: "error", "warning", "note" or "never".
# fail-on = "error"

# "text", "concise", "json", "sarif", "github", "gitlab" or "junit".
# output-format = "text"

# Git LFS pointers: "error", or "skip" to count them only.
# lfs-pointers = "error"

# Findings that are known already; `irlint --update-baseline PATH...` writes the file.
# baseline = "irlint-baseline.json"

# Another severity for some rules: "error", "warning" or "note".
# [severity]
# nodes-not-sorted = "error"

# Rules that are not reported for some files: GLOB = [RULES].
# [per-file-ignores]
# "models/legacy/*.onnx" = ["IRL104", "IRL8"]

# The shapes that the inputs of some models have: whole numbers, names, or ? for unknown.
# [[models]]
# file = "models/detector.onnx"
# shapes = { images = "N,3,640,640" }

# Findings to hide, and why: `reason`, and at least one of `file`, `rule` and `node`, each of which may be a glob.
# From the day after `expires` on they are reported again.
# [[suppress]]
# file = "models/detector.onnx"
# rule = "IRL201"
# node = "/neck/Add_*"
# reason = "replaced when the graph is loaded"
# expires = 2030-01-31
"""
