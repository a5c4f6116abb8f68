# SPDX-License-Identifier: MIT
"""src/ and every public header are without a finding of clang-tidy (.clang-tidy): what changed
since the last release, and all of it in a deep run.

  clang_tidy_test.py INCLUDE...    folders of headers, of a build too

All of it is one unit, as most of the time goes into the standard's headers. So two files of src/
must not give two things one name, a rule that building several files at a time wants as well. The
canary is a unit with a fault in a header and one in a source: both must be reported.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from since_release import changed_files

ROOT = Path(__file__).resolve().parents[2]
CLANG_TIDY = "clang-tidy-19"
LEAST_FILES = 20  # fewer were not all of them
# Of mpi.h. Where there is no Open MPI, what includes it is left out.
MPI_FOLDERS = []
if shutil.which("mpicxx.openmpi"):
    MPI_FOLDERS = subprocess.run(["mpicxx.openmpi", "--showme:incdirs"], capture_output=True,
                                 text=True, check=True).stdout.split()


def findings(included, folders):
    """What clang-tidy says about a unit that includes these files."""
    with tempfile.TemporaryDirectory() as folder:
        unit = Path(folder) / "unit.cpp"
        unit.write_text("".join(f'#include "{path}"\n' for path in included))
        command = [CLANG_TIDY, f"--config-file={ROOT / '.clang-tidy'}", "--quiet", str(unit), "--",
                   "-std=c++20", "-DOMPI_SKIP_MPICXX", *(f"-I{path}" for path in folders),
                   *(f"-isystem{path}" for path in MPI_FOLDERS)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if ": error: " in line]
    if done.returncode != 0 and not lines:
        lines = (done.stdout + done.stderr).splitlines() or ["clang-tidy failed in silence"]
    return lines


def canary_is_reported():
    with tempfile.TemporaryDirectory() as folder:
        header = Path(folder) / "include" / "handoff" / "canary.hpp"
        source = Path(folder) / "src" / "canary.cpp"
        for path, text in ((header, "struct Canary {\n  Canary(int);\n};\n"),
                           (source, "int* canary() { return 0; }\n")):
            path.parent.mkdir(parents=True)
            path.write_text(text)
        lines = findings([header, source], [])
        return (any("google-explicit-constructor" in line for line in lines)
                and any("modernize-use-nullptr" in line for line in lines))


def main(includes):
    if not canary_is_reported():
        print("a fault in a header or in a source was not reported: this test sees nothing")
        return 1
    files = [ROOT / "include" / "handoff" / "handoff.hpp", *sorted((ROOT / "src").glob("*/*.cpp"))]
    if len(files) < LEAST_FILES:
        print(f"only {len(files)} files: these are not all")
        return 1
    changed = changed_files()
    if changed is not None:
        files = sorted(path for folder in ("include", "src")
                       for path in (ROOT / folder).rglob("*.?pp")
                       if path.relative_to(ROOT).as_posix() in changed)
    if not MPI_FOLDERS:
        files = [path for path in files if path.parent != ROOT / "src" / "mpi"]
    faults = findings(files, [ROOT / "include", ROOT / "src", *includes]) if files else []
    for fault in faults:
        print(fault.replace(f"{ROOT}/", ""))
    print(f"{len(files)} files, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
