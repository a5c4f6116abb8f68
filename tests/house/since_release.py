# SPDX-License-Identifier: MIT
"""Which files changed since the last release, for tests that look at all only in a deep run.

A release is the commit that wrote the version into CMakeLists.txt: a clone may come without tags.
"""

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"](handoff/[^>"]+)[>"]', re.MULTILINE)


def git(*arguments, root=ROOT):
    """What git answers, a line each; nothing where it cannot."""
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True,
                          check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def changed_files(root=ROOT):
    """Paths below the root, with what is not committed yet; None if all must be looked at: in a
    deep run, or where there is no history."""
    if os.environ.get("HANDOFF_TEST_DEEP") == "1":
        return None
    release = git("log", "-1", "--format=%H", "-G", "^project[(]handoff VERSION", "--",
                  "CMakeLists.txt", root=root)
    if not release or git("rev-parse", "--is-shallow-repository", root=root) == ["true"]:
        return None
    new = git("ls-files", "--others", "--exclude-standard", root=root)
    return {*git("diff", "--name-only", release[0], root=root), *new}


def headers_that_include(changed, root=ROOT):
    """Of the library's headers those that changed or include one that did, as `handoff/x/y.hpp`."""
    include = Path(root, "include")
    included = {path.relative_to(include).as_posix(): set(INCLUDE.findall(path.read_text()))
                for path in sorted(include.rglob("*.hpp"))}
    found = {name for name in included if f"include/{name}" in changed}
    while True:
        more = {name for name, names in included.items() if names & found} - found
        if not more:
            return found
        found |= more
