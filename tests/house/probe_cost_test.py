# SPDX-License-Identifier: MIT
"""A probe that nothing looks at is one load and one branch.

Counted in the assembly of probe_cost.cpp, by both compilers, for a program and for a shared object
(-fPIC, where the address of the variable is one load more, from a table that never changes). A
probe alone in a function is a load, a comparison, a branch and the return; what happens while
something looks is a jump out of the function, to what is cold. So nothing is stored, pushed, locked
or called. (What lives across a probe may take a register more around it. Whether that is felt,
`handoff compare` says.)
The canary is a hook that is looked at twice: it must be told apart.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_name("probe_cost.cpp")
PROBES = [f"{name}_probe" for name in ("hand_over", "share_out", "move", "begin", "end", "gone",
                                     "moment")]
WATCHED = "watched"
FLAGS = {"program": ["-O2", "-fno-pie"], "shared object": ["-O2", "-fPIC"]}
TABLE = "GOTPCREL"


def assembly(arguments, flags, source):
    command = [arguments.compiler, "-std=c++20", "-masm=intel", "-S", "-o", "-",
               "-fno-asynchronous-unwind-tables", *flags,
               *(f"-I{folder}" for folder in arguments.include), str(source)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def instructions(text, function):
    """All of the function, with what the compiler has put into a section for what is cold."""
    found = []
    for label in (function, rf"{function}\.cold"):
        body = re.search(rf"^{label}:.*?\n(.*?)(?=^\S*\s*\.size\s|^\w[\w.]*:|\Z)", text,
                         re.MULTILINE | re.DOTALL)
        for line in body.group(1).splitlines() if body else ():
            line = re.sub(r"\s+", " ", line.strip())
            if line and not line.startswith((".", "#")) and not line.endswith(":"):
                found.append(line)
    if not found:
        sys.exit(f"{function} is not in the assembly")
    return found


def faults(lines):
    """What is wrong with a function that is a probe."""
    table = [line for line in lines if WATCHED in line and TABLE in line]
    looks = [line for line in lines if WATCHED in line and TABLE not in line]
    for line in table:  # the address is in a register: what reads through it is the look
        register = re.match(r"mov (\w+),", line).group(1)
        looks += [line for line in lines if re.search(rf"ptr \[{register}\]", line, re.IGNORECASE)]
    branches = [line for line in lines if re.match(r"j(?!mp)\w+ ", line)]
    others = [line for line in lines
              if re.match(r"(call|push|pop|lock|xchg|mfence)\b", line)
              or re.match(r"(mov|add|or|sub) \w+ ptr", line, re.IGNORECASE)]
    if len(looks) != 1 or len(table) > 1:
        yield f"{len(looks)} loads"
    if len(branches) != 1:
        yield f"{len(branches)} branches"
    if others:
        yield f"more than that: {others}"


def examine(arguments, source):
    """How many faults there are, each told."""
    count = 0
    for kind, flags in FLAGS.items():
        text = assembly(arguments, flags, source)
        for probe in PROBES:
            lines = instructions(text, probe)
            print(f"{kind}: {probe}: {'; '.join(lines)}")
            for fault in faults(lines):
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
            "{ probe::", "{\n  if (probe::is_watched()) return;\n  probe::"))
        if examine(arguments, twice) == 0:
            print("a second look was not found: this test sees nothing")
            return 1
    return 0


sys.exit(main())
