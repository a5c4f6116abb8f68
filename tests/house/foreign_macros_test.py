# SPDX-License-Identifier: MIT
"""Our headers beside other people's: foreign_macros.hpp defines what those define as macros, once
before all of our headers and once behind them. Neither may hurt, and what was defined still is.

The standard's headers that ours include come first: what they stand is not ours to say. The canary
defines a name that our headers do use: it must be found.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (ROOT / "include", ROOT / "compat")
# Inner headers; and a drop-in whose two versions exclude each other, and which takes the macros
# `major` and `minor` away, as the original does.
HIDDEN = {"detail", "internal", "bs_thread_pool"}
INCLUDE = re.compile(r"^#include <(\w+)>", re.MULTILINE)
DEFINE = re.compile(r"^#define (\w+)", re.MULTILINE)
MACROS = Path(__file__).with_name("foreign_macros.hpp")
FLAGS = ("-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-x", "c++", "-")


def headers():
    for folder in FOLDERS:
        for path in sorted(folder.rglob("*.h*")):
            if not HIDDEN.intersection(path.parts):
                yield path.relative_to(folder), path.read_text()


def include(names):
    return "".join(f"#include <{name}>\n" for name in names)


def units(arguments):
    texts = [path.read_text() for folder in FOLDERS for path in folder.rglob("*.h*")]
    standard = include(sorted({name for text in texts for name in INCLUDE.findall(text)}))
    own = include(path for path, _ in headers())
    foreign = f'#include "{MACROS}"\n'
    if arguments.canary:
        foreign += f"#define {arguments.canary} int\n"
    kept = "".join(f"#if !defined({name})\n#error {name} is no macro any more\n#endif\n"
                   for name in DEFINE.findall(MACROS.read_text()))
    yield "before", standard + foreign + own + kept
    yield "behind", standard + own + foreign + kept


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--canary", help="a macro more, which must be found")
    arguments = parser.parse_args()
    folders = [f"-I{folder}" for folder in (*FOLDERS, *arguments.include)]
    found = False
    for where, text in units(arguments):
        done = subprocess.run([arguments.compiler, *folders, *FLAGS], input=text,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            found = True
            print(f"with foreign macros {where} our headers:\n" +
                  "\n".join(done.stderr.splitlines()[:30]))
    return 0 if found == bool(arguments.canary) else 1


if __name__ == "__main__":
    sys.exit(main())
