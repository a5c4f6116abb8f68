# SPDX-License-Identifier: MIT
"""What the interface forbids must not compile, and for the reason it gives.

Each source marks its wrong uses with `#if defined(WRONG_name)  // expect: regular expression`. It
must compile without any of them, so that nothing else in it is at fault, and fail with each one,
naming the reason in the first lines: nobody reads on. The headers of the standard library are
compiled once for all of them, before the source and the library's own headers, which would
otherwise be most of the work.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

WRONG = re.compile(r"^#if defined\(WRONG_(\w+)\)  // expect: (.+)$", re.MULTILINE)
FLAGS = ("-std=c++20", "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable")
DEAR = {"<execution>", "<regex>"}  # and hardly used
OF_STANDARD = re.compile(r"^#include (<[a-z_]+>)$", re.MULTILINE)


def precompile(arguments, folder):
    """The headers of the standard library that the library and the source name; for both compilers
    it is enough that `standard.hpp` is included and has the compiled one beside it."""
    texts = [Path(arguments.source).read_text()]
    for include in arguments.include:
        texts += [path.read_text() for path in Path(include).rglob("*.h*")]
    names = sorted({name for text in texts for name in OF_STANDARD.findall(text)} - DEAR)
    header = folder / "standard.hpp"
    header.write_text("".join(f"#include {name}\n" for name in names))
    suffix = ".pch" if "clang" in arguments.compiler else ".gch"
    subprocess.run([arguments.compiler, *FLAGS, "-x", "c++-header", header, "-o",
                    folder / f"standard.hpp{suffix}"], check=True)
    return header


def compile_it(arguments, wrong=None):
    command = [arguments.compiler, *FLAGS, "-fsyntax-only", "-include", arguments.standard,
               arguments.source]
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
    with tempfile.TemporaryDirectory() as folder:
        arguments.standard = precompile(arguments, Path(folder))
        found = list(faults(arguments))
    for fault in found:
        print(f"{arguments.source}: {fault}")
    return 0 if bool(found) == arguments.canary else 1


if __name__ == "__main__":
    sys.exit(main())
