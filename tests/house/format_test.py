# SPDX-License-Identifier: MIT
"""Every C++ and C file is laid out as .clang-format says. `clang-format-19 -i FILE` mends a fault.

The canary is a file that is not: it must be reported.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("include", "src", "compat", "lab", "tests", "examples", "tools")
SUFFIXES = {".hpp", ".cpp", ".h", ".c"}
CLANG_FORMAT = "clang-format-19"


def badly_laid_out(files):
    """The lines that clang-format says about `files`."""
    command = [CLANG_FORMAT, f"--style=file:{ROOT / '.clang-format'}", "--dry-run", *files]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [line for line in done.stderr.splitlines() if "warning:" in line]


def canary_is_reported():
    with tempfile.TemporaryDirectory() as folder:
        canary = Path(folder) / "canary.cpp"
        canary.write_text("int main( ) {return 0;}\n")
        return len(badly_laid_out([canary])) > 0


def main():
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))
             if path.suffix in SUFFIXES]
    if not canary_is_reported():
        print("a badly laid out file was not reported: this test sees nothing")
        return 1
    faults = badly_laid_out(files)
    for fault in faults:
        print(fault)
    print(f"{len(files)} files, {len(faults)} faults")
    return 1 if faults or not files else 0


if __name__ == "__main__":
    sys.exit(main())
