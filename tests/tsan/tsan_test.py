#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs with ThreadSanitizer beside a library without it (docs/design/tsan.md).

tsan_test.py --compiler C++ --library libhandoff.a --include FOLDER... [--examples FOLDER]
PROGRAM...

Each program reports nothing, and the race that PLANT puts into it, which proves that the sanitizer
looks. An example only reports nothing.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FLAGS = ["-std=c++20", "-O1", "-g1", "-fsanitize=thread"]
# Children that crash on purpose (examples/14) end by their signal, as without the sanitizer.
SIGNALS = "".join(f":handle_{name}=0" for name in ("segv", "abort", "sigill", "sigfpe", "sigbus"))


def built(arguments, source, folder, name=None):
    program = Path(folder, name or source.stem)
    subprocess.run([arguments.compiler, *FLAGS, *arguments.flag,
                    *(f"-I{include}" for include in arguments.include), source, "-o", program,
                    arguments.library, *arguments.link, "-pthread"], check=True)
    return program


def reports(program, planted=False):
    """How often the sanitizer says something, and what, when the program runs."""
    environment = {**os.environ, "TSAN_OPTIONS": "exitcode=0" + SIGNALS}
    environment.pop("PLANT", None)
    if planted:
        environment["PLANT"] = "1"
    # g++ 12's runtime cannot do with all the address randomness that kernels have.
    ran = subprocess.run(["setarch", "--addr-no-randomize", program], env=environment, text=True,
                         errors="replace", capture_output=True, timeout=300, check=False,
                         cwd=program.parent)
    said = ran.stdout + ran.stderr
    if ran.returncode != 0:
        sys.exit(f"{program.name} ended with {ran.returncode}:\n{said}")
    return len(re.findall("WARNING: ThreadSanitizer", said)), said


def check(arguments, source, folder):
    program = built(arguments, source, folder)
    found, said = reports(program)
    if found:
        return f"{source.name}: {found} false reports:\n{said}"
    if source.parent == arguments.examples:
        return ""
    # g++ 12's sanitizer misses it in up to five of six runs.
    if not any(reports(program, planted=True)[0] for _ in range(30)):
        return f"{source.name}: the planted race was not reported"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--link", action="append", default=[])
    parser.add_argument("--flag", action="append", default=[])
    parser.add_argument("--examples", type=Path)
    parser.add_argument("programs", nargs="*")
    arguments = parser.parse_args()
    programs = Path(__file__).parent / "programs"
    sources = [programs / f"{name}.cpp" for name in arguments.programs]
    if arguments.examples:
        sources += sorted(arguments.examples.glob("*.cpp"))
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as two:
        if arguments.examples:  # 16 looks for it beside itself
            worker = arguments.examples / "worker_program/blur_worker.cpp"
            built(arguments, worker, folder, "example_blur_worker")
        faults = list(two.map(lambda source: check(arguments, source, folder), sources))
    faults = [fault for fault in faults if fault]
    print("\n".join(faults) or f"{len(sources)} programs: no false report")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
