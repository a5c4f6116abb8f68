# SPDX-License-Identifier: MIT
"""The seam is free: with std::atomic in its place the rings compile to the same instructions.

The twin is the library's own source, compiled with a folder before the others in which the names
of the seam are the standard's and bare memory. So nothing can differ but what the seam itself
adds. Compared are the instructions of each hot function, one by one, and the sizes of the rings.
The canary is a twin whose atomic does one thing more: it must be told apart.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FUNCTIONS = [f"{ring}_{what}" for ring in ("spsc", "mpsc", "mpmc") for what in ("push", "pop")]
SIZES = [f"{ring}_size" for ring in ("spsc", "mpsc", "mpmc")]

ATOMIC = """#pragma once
#include <atomic>
#include <handoff/config.hpp>
namespace handoff { inline namespace HANDOFF_ABI { namespace sync {
using order = std::memory_order;
template <class T> using atomic = std::atomic<T>;
}}}
"""
CELL = """#pragma once
#include <memory>
#include <type_traits>
#include <utility>
#include <handoff/config.hpp>
namespace handoff { inline namespace HANDOFF_ABI { namespace sync {
template <class T> union raw_cell {
  raw_cell() noexcept {}
  ~raw_cell() {}
  template <class... A> T& construct(A&&... a) noexcept(std::is_nothrow_constructible_v<T, A...>) {
    return *std::construct_at(&value, std::forward<A>(a)...);
  }
  T& write() noexcept { return value; }
  void destroy() noexcept { std::destroy_at(&value); }
  T value;
};
}}}
"""
# An atomic whose stores count themselves: what a seam that is not free would look like.
COUNTING = ATOMIC.replace(
    "template <class T> using atomic = std::atomic<T>;",
    """inline unsigned long stores = 0;
template <class T> struct atomic : std::atomic<T> {
  using std::atomic<T>::atomic;
  void store(T value, order o) noexcept { ++stores; std::atomic<T>::store(value, o); }
};""",
)


def compile_unit(arguments, folders, target):
    includes = [f"-I{folder}" for folder in [*folders, *arguments.include]]
    command = [arguments.compiler, "-std=c++20", "-O2", *includes, "-c",
               str(Path(__file__).with_name("seam.cpp")), "-o", str(target)]
    subprocess.run(command, check=True)
    return target


def instructions(unit, function):
    """The function's instructions, with jumps and references told by their place in it."""
    command = ["objdump", "-d", "-r", "--no-show-raw-insn", "--no-addresses",
               f"--disassemble={function}", str(unit)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = [line.strip() for line in text.splitlines() if line.startswith((" ", "\t"))]
    return [re.sub(r"\s+", " ", re.sub(r"<[^>]*\+", "<+", line)) for line in lines]


def sizes(unit):
    command = ["nm", "-S", str(unit)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.findall(r"^\S+ (\S+) \S (\w+_size)$", text, re.MULTILINE)
    return {name: int(size, 16) for size, name in found if name in SIZES}


def write_twin(folder, atomic):
    sync = Path(folder) / "handoff" / "sync" / "internal"
    sync.mkdir(parents=True)
    (sync / "atomic.hpp").write_text(atomic)
    (sync / "cell.hpp").write_text(CELL)


def differences(arguments, folder, atomic):
    write_twin(Path(folder) / "twin", atomic)
    ours = compile_unit(arguments, [], Path(folder) / "ours.o")
    twin = compile_unit(arguments, [Path(folder) / "twin"], Path(folder) / "twin.o")
    different = []
    for function in FUNCTIONS:
        mine, theirs = instructions(ours, function), instructions(twin, function)
        print(f"{function}: {len(mine)} instructions, its twin {len(theirs)}")
        if not mine or mine != theirs:
            different.append(function)
    for name, size in sizes(ours).items():
        print(f"{name}: {size} bytes, its twin {sizes(twin)[name]}")
        if size != sizes(twin)[name]:
            different.append(name)
    return different


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", action="append", default=[])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        different = differences(arguments, folder, ATOMIC)
    if different:
        print("the seam costs something in:", ", ".join(different))
        return 1
    with tempfile.TemporaryDirectory() as folder:
        if not differences(arguments, folder, COUNTING):
            print("the canary was not told apart: this test sees nothing")
            return 1
    return 0


sys.exit(main())
