# SPDX-License-Identifier: MIT
"""A probe that nothing looks at is one load and one branch.

Counted in the assembly of probe_cost.cpp, by both compilers, for a program and for a shared object
(-fPIC, where the address of the variable is one load more, from a table that never changes): on the
way on which the branch is not taken a function with a probe has a load, a comparison and a branch
more than its twin without, and no call, store, push or locked instruction. What happens while
something looks lies behind the branch, in a section of its own or behind the function's end.
The canary is a hook that is looked at twice: it must be told apart.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_name("probe_cost.cpp")
PROBES = [f"{name}_probe" for name in ("hand_over", "share_out", "move", "begin", "end", "moment")]
WATCHED = "watched"
FLAGS = {"program": ["-O2", "-fno-pie"], "shared object": ["-O2", "-fPIC"]}
TABLE = "GOTPCREL"


def assembly(arguments, flags, source):
    command = [arguments.compiler, "-std=c++20", "-masm=intel", "-S", "-o", "-",
               "-fno-asynchronous-unwind-tables", *flags,
               *(f"-I{folder}" for folder in arguments.include), str(source)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def instructions(text, function):
    """The function's instructions up to its first jump to the work, with a condition (clang++) or
    without: the way that is taken while nothing looks."""
    body = re.search(rf"^{function}:.*?\n(.*?)(?=^\S*\.size\s|^\w+:|\Z)", text,
                     re.MULTILINE | re.DOTALL)
    if body is None:
        sys.exit(f"{function} is not in the assembly")
    found = []
    for line in body.group(1).splitlines():
        line = line.strip()
        if not line or line.startswith((".", "#")) or line.endswith(":"):
            continue
        found.append(re.sub(r"\s+", " ", line))
        if re.match(r"jmp|ret|j\w+ work\b", found[-1]):
            break
    return found


def faults(way):
    """What is wrong with the way of a function with a probe."""
    looks = [line for line in way if WATCHED in line and TABLE not in line]
    table = [line for line in way if WATCHED in line and TABLE in line]
    if table:  # the address is in a register: what reads through it is the look
        register = re.match(r"mov (\w+),", table[0])
        looks = [line for line in way if register and f"[{register.group(1)}]" in line]
    branches = [line for line in way if re.match(r"j(?!mp)\w+ ", line)]
    others = [line for line in way if re.match(r"(call|push|lock|xchg|mfence)\b", line)]
    stores = [line for line in way if re.match(r"(mov|add|or) \w+ ptr", line, re.IGNORECASE)]
    # A load, a test of its own where the compiler wants one, a branch, and the jump to the work.
    if len(looks) != 1 or len(table) > 1:
        yield f"{len(looks)} loads"
    if len(branches) != 1:
        yield f"{len(branches)} branches"
    if others or stores:
        yield f"more than that: {others + stores}"
    if len(way) > len(table) + 4:
        yield f"{len(way)} instructions"


def examine(arguments, source):
    """How many faults there are, each told."""
    count = 0
    for kind, flags in FLAGS.items():
        text = assembly(arguments, flags, source)
        twin = instructions(text, "none_twin")
        if len(twin) != 1:
            sys.exit(f"the twin is not one jump: {twin}")
        for probe in PROBES:
            way = instructions(text, probe)
            print(f"{kind}: {probe}: {'; '.join(way)}")
            for fault in faults(way):
                print(f"{kind}: {probe}: {fault}")
                count += 1
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", action="append", default=[])
    arguments = parser.parse_args()
    if examine(arguments, SOURCE) != 0:
        return 1
    with tempfile.TemporaryDirectory() as folder:
        twice = Path(folder) / "twice.cpp"
        twice.write_text(SOURCE.read_text().replace(
            "_probe(void* what) {", "_probe(void* what) {\n  if (probe::is_watched()) return;"))
        if examine(arguments, twice) == 0:
            print("a second look was not found: this test sees nothing")
            return 1
    return 0


sys.exit(main())
