#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
"""What instructions cost, from the times that instructions.cu printed on a GPU.

    costs.py TIMES.csv CLOCK_GHZ SMS

prints the object "instructions" of a machine file: [slots, latency in clocks, source] a class. A chain
of 1,024 instructions of one warp gives the latency; 64 warps an SM with 512 each, the slots (a quarter of
a clock of an SM). An empty kernel's time is taken off; where a measured chain holds a second
instruction, what that costs by itself is.
"""
import sys

LONE, FULL = 1024, 64 * 512
# class: (row, instructions of the class in one link, the rows beside it)
ROWS = {
    "alu": ("shf", 1, ()), "fma": ("fma_f32", 1, ()), "multiply": ("mad_s32", 1, ()),
    "wide_multiply": ("mul_s64", 1, ()), "fp64": ("fma_f64", 1, ()), "special": ("ex2_approx", 1, ()),
    "convert": ("cvt_f32_s32", 2, ()), "convert_fp64": ("cvt_f64_f32", 2, ()),
    "divide": ("div_s32", 1, ()), "divide_64": ("div_s64", 1, ()),
    "divide_float": ("div_f32", 1, ()), "root": ("sqrt_f32", 1, ()), "divide_fp64": ("div_f64", 1, ()),
    "shuffle": ("shfl", 1, ()), "vote": ("vote", 1, ("shf",)), "match": ("match_all", 1, ()),
    "redux": ("redux", 1, ()), "block_barrier": ("bar_sync", 1, ()),
    "fence_block": ("fence_cta", 1, ()), "fence_device": ("fence_gpu", 1, ()),
    "fence_system": ("fence_sys", 1, ()),
}
# Their slots are of issue, where others go on beside them: one SM's 64 warps wait side by side.
WAIT_SIDE_BY_SIDE = {"fence_device": 4, "fence_system": 4}
# The integer pipe has a term of its own; here it is the slot of issue.
ISSUE_ALONE = {"alu": 1, "fma": 1}


def main():
    path, clock, sms = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    times = {}
    for line in open(path, encoding="utf-8"):
        group, rest = line.rstrip("\n").split(",", 1)
        name, us = rest.rsplit(",", 1)
        times[group, name] = float(us)
    empty = times["dispatch", "empty 132 1024"]

    def clocks(group, name):
        count = LONE if group == "latency" else FULL * 132 / sms
        return (times[group, name] - empty) * 1000 * clock / count

    for name, (row, each, beside) in ROWS.items():
        latency = (clocks("latency", row) - sum(clocks("latency", b) for b in beside)) / each
        slots = 4 * (clocks("throughput", row) - sum(clocks("throughput", b) for b in beside)) / each
        slots = WAIT_SIDE_BY_SIDE.get(name, ISSUE_ALONE.get(name, slots))
        print(f'    "{name}": [{slots:.3g}, {latency:.3g}, "[measured] {row}"],')


main()
