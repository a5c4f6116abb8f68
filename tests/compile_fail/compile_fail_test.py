# SPDX-License-Identifier: MIT
"""What the interface forbids must not compile, and for the reason it gives.

Each source marks its wrong uses with `#if defined(WRONG_name)  // expect: regular expression`. It
must compile without any of them, so that nothing else in it is at fault, and fail with each one,
naming the reason in the first lines: nobody reads on. What it includes before its first `#if` is
compiled once for all of them, which would otherwise be most of the work.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

WRONG = re.compile(r"^#if defined\(WRONG_(\w+)\)  // expect: (.+)$", re.MULTILINE)
FLAGS = ("-std=c++20", "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable")
INCLUDE = re.compile(r"^#include <.+>\n", re.MULTILINE)


def precompile(arguments, folder):
    """The headers that each case includes; for both compilers it is enough that `headers.hpp` is
    included and has the compiled one beside it."""
    header = folder / "headers.hpp"
    always = Path(arguments.source).read_text().partition("\n#if")[0]
    header.write_text("".join(INCLUDE.findall(always + "\n")))
    suffix = ".pch" if "clang" in arguments.compiler else ".gch"
    subprocess.run([arguments.compiler, *FLAGS, *includes(arguments), "-x", "c++-header", header,
                    "-o", folder / f"headers.hpp{suffix}"], check=True)
    return header


def includes(arguments):
    return [f"-I{folder}" for folder in arguments.include]


def compile_it(arguments, wrong=None):
    command = [arguments.compiler, *FLAGS, "-fsyntax-only", "-include", arguments.headers,
               *includes(arguments), arguments.source]
    if wrong:
        command.append(f"-DWRONG_{wrong}")
    return subprocess.run(command, capture_output=True, text=True, check=False)


def first_lines(arguments, said):
    """Those a user reads. Clang has one more here: that a header came by way of ours."""
    lines = said.splitlines(True)
    if "clang" in arguments.compiler:
        by_way = f"In file included from {arguments.headers}:"
        lines = [line for line in lines if not line.startswith(by_way)]
    return "".join(lines[:arguments.lines])


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
        elif not re.search(expected, first_lines(arguments, done.stderr)):
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
    with tempfile.TemporaryDirectory() as folder:
        arguments.headers = precompile(arguments, Path(folder))
        found = list(faults(arguments))
    for fault in found:
        print(f"{arguments.source}: {fault}")
    return 0 if bool(found) == arguments.canary else 1


if __name__ == "__main__":
    sys.exit(main())
