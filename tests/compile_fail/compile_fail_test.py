# SPDX-License-Identifier: MIT
"""What the interface forbids must not compile, and for the reason it gives.

Each source marks its wrong uses with `#if defined(WRONG_name)  // expect: regular expression`. It
must compile without any of them, so that nothing else in it is at fault, and fail with each one,
naming the reason in the first lines: nobody reads on.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

WRONG = re.compile(r"^#if defined\(WRONG_(\w+)\)  // expect: (.+)$", re.MULTILINE)
FLAGS = ("-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable")


def compile_it(arguments, wrong=None):
    command = [arguments.compiler, *FLAGS, arguments.source]
    command += [f"-I{folder}" for folder in arguments.include]
    if wrong:
        command.append(f"-DWRONG_{wrong}")
    return subprocess.run(command, capture_output=True, text=True, check=False)


def faults(arguments):
    right = compile_it(arguments)
    if right.returncode != 0:
        yield f"does not compile without a wrong use:\n{right.stderr}"
    cases = WRONG.findall(Path(arguments.source).read_text())
    if not cases:
        yield "has no wrong use marked, mark one as the other sources do"
    for name, expected in cases:
        done = compile_it(arguments, name)
        if done.returncode == 0:
            yield f"compiles with {name}"
        elif not re.search(expected, "".join(done.stderr.splitlines(True)[:arguments.lines])):
            yield f"{name} does not say '{expected}' in {arguments.lines} lines:\n{done.stderr}"
        else:
            print(f"{name}: refused, as it must be")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--lines", type=int, default=5, help="of what the compiler says, are read")
    parser.add_argument("--canary", action="store_true", help="there must be a fault")
    parser.add_argument("source")
    arguments = parser.parse_args()
    found = list(faults(arguments))
    for fault in found:
        print(f"{arguments.source}: {fault}")
    return 0 if bool(found) == arguments.canary else 1


if __name__ == "__main__":
    sys.exit(main())
