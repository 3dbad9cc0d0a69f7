"""Benchmarks: every figure is a ratio between two ways of doing the same work, measured in turn in one run.

`python -m benchmarks` runs the `run()` of every module here whose name has no leading underscore. A `run()` gives
rows that begin with (name, ratio, bar): the ratio must not exceed the bar; without a bar (None) it is only shown.
"""
