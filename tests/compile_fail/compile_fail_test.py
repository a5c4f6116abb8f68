# SPDX-License-Identifier: MIT
"""What the interface forbids must not compile, and for the reason it gives.

Each source has its wrong uses in comments, below `// wrong: regular expression`. It must compile as
it is, so that nothing else in it is at fault, and fail with each one, naming the reason in the
first lines: nobody reads on. What it includes is compiled once for all of them, which would
otherwise be most of the work.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

WRONG = re.compile(r"^ *// wrong: (.+)\n((?: *//(?! wrong: ).*\n)+)", re.MULTILINE)
FLAGS = ("-std=c++20", "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable")
INCLUDE = re.compile(r"^#include <.+>\n", re.MULTILINE)


def precompile(arguments, folder):
    """The headers that each case includes; for both compilers it is enough that `headers.hpp` is
    included and has the compiled one beside it."""
    header = folder / "headers.hpp"
    header.write_text("".join(INCLUDE.findall(Path(arguments.source).read_text())))
    suffix = ".pch" if "clang" in arguments.compiler else ".gch"
    subprocess.run([arguments.compiler, *FLAGS, *includes(arguments), "-x", "c++-header", header,
                    "-o", folder / f"headers.hpp{suffix}"], check=True)
    return header


def includes(arguments):
    return [f"-I{folder}" for folder in arguments.include]


def compile_it(arguments, text):
    command = [arguments.compiler, *FLAGS, "-fsyntax-only", "-include", arguments.headers,
               *includes(arguments), "-x", "c++", "-"]
    return subprocess.run(command, input=f'#line 1 "{arguments.source}"\n{text}',
                          capture_output=True, text=True, check=False)


def first_lines(arguments, said):
    """Those a user reads: not by way of which other headers one came. Clang has one more here: that
    it came by way of ours."""
    lines = [line for line in said.splitlines(True) if not re.match(r" +from ", line)]
    if "clang" in arguments.compiler:
        by_way = f"In file included from {arguments.headers}:"
        lines = [line for line in lines if not line.startswith(by_way)]
    return "".join(lines[:arguments.lines])


def faults(arguments):
    text = Path(arguments.source).read_text()
    right = compile_it(arguments, text)
    if right.returncode != 0:
        yield f"does not compile without a wrong use:\n{right.stderr}"
    cases = list(WRONG.finditer(text))
    if not cases:
        yield "has no wrong use marked, mark one as the other sources do"
    for case in cases:
        code = re.sub(r"^( *)// ?", r"\1", case[2], flags=re.MULTILINE)
        done = compile_it(arguments, text[:case.start(2)] + code + text[case.end(2):])
        said = f"line {text.count(chr(10), 0, case.start(2)) + 1}"
        if done.returncode == 0:
            yield f"{said}: compiles"
        elif not re.search(case[1], first_lines(arguments, done.stderr)):
            yield f"{said} does not say '{case[1]}' in {arguments.lines} lines:\n{done.stderr}"
        else:
            print(f"{said}: refused, as it must be")


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
