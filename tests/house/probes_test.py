# SPDX-License-Identifier: MIT
"""The library has the probes that the guide lists, each with as many arguments, and no others.

Without <sys/sdt.h> there must be none.
"""

import argparse
import re
import subprocess
import sys


def probes_of(library):
    """{name: number of arguments}, from the ELF notes."""
    notes = subprocess.run(["readelf", "-nW", library], capture_output=True, text=True,
                           check=True).stdout
    found = {}
    for provider, name, arguments in re.findall(
            r"Provider: (\S+)\s+Name: (\S+)\s+Location: .*\s+Arguments: ?(.*)", notes):
        if provider == "handoff":
            found[name] = len(arguments.split())
    return found


def probes_told_of(guide):
    """{name: number of arguments}, from lines like | `name(one, two)` | ... |"""
    with open(guide, encoding="utf-8") as file:
        section = file.read().split("## Watching a pool", 1)[1].split("\n## ", 1)[0]
    told = re.findall(r"^\| `(\w+)\((.*?)\)` \|", section, re.MULTILINE)
    return {name: len(arguments.split(",")) for name, arguments in told}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", required=True)
    parser.add_argument("--guide", required=True)
    parser.add_argument("--none", action="store_true", help="built without <sys/sdt.h>")
    arguments = parser.parse_args()
    told = {} if arguments.none else probes_told_of(arguments.guide)
    found = probes_of(arguments.library)
    print(f"in the library: {found}")
    if not arguments.none and not told:
        sys.exit("the guide lists no probe")
    if found != told:
        sys.exit(f"the guide lists: {told}")


main()
