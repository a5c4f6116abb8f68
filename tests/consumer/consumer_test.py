# SPDX-License-Identifier: MIT
"""A stranger's project, built in each way a stranger may come to the library.

Named by the test class to run: FindPackage, PkgConfig, AddSubdirectory. Five programs are built and
run in each of these ways: by AddSubdirectory, with another compiler or standard library by
Programs, and on a machine that has nothing else by each class of the ways of docs/guide/install.md,
whose lines are used as they stand there. What is installed is moved as a whole before it is used,
so a path of this machine in it would be found out.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from fresh_root import FreshRoot, Missing, call

PROJECT = Path(__file__).resolve().parent / "project"
PROGRAMS = Path(__file__).resolve().parent / "programs"
SOURCE = Path(__file__).resolve().parents[2]
# The library itself in less time: nothing here depends on how it is optimised.
SOON = ("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0",
        "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=16")
SMALL_BYTES_MOST = 180 * 1024  # a named pool, a future and a loop, stripped
LIBRARY_BYTES_MOST = 8_000_000  # what --component library installs
LIBRARY_FILES_MOST = 400
GUIDE = SOURCE / "docs" / "guide" / "install.md"
SKIPPED = 77
settings = None  # the command line


def configure(source, build, *arguments):
    return ["cmake", "-G", "Ninja", "-S", str(source), "-B", str(build),
            f"-DCMAKE_CXX_COMPILER={settings.compiler}", "-DCMAKE_BUILD_TYPE=Release",
            f"-DCMAKE_CXX_FLAGS={' '.join(settings.flags)}", *arguments]


class Consumer(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.build = self.folder / "build"

    def install(self, binary_folder):
        """Installs, moves what was installed, and gives the folder where it is now."""
        call("cmake", "--install", binary_folder, "--component", "library", "--prefix",
             self.folder / "first")
        return (self.folder / "first").rename(self.folder / "moved here")

    def pkg_config(self, prefix, *questions):
        """What pkg-config answers about what is installed there."""
        found = list(prefix.rglob("handoff.pc"))
        self.assertEqual(len(found), 1)
        environment = {"PATH": "/usr/bin:/bin", "PKG_CONFIG_PATH": str(found[0].parent)}
        return call("pkg-config", *questions, "handoff", env=environment)

    def expect_it_works(self, *arguments):
        told = call(*configure(PROJECT, self.build, *arguments))
        call("cmake", "--build", self.build)
        self.assertEqual(call(self.build / "stranger").strip(), settings.version)
        self.assertEqual(call(self.build / "everything").strip(), "all of it")
        self.assertEqual(call(self.build / "eventpp_user").strip(), "queued and called by 5")
        return told

    def expect_right(self, folder):
        programs = [source.stem for source in PROGRAMS.glob("*.cpp")]
        self.assertEqual(len(programs), 5)
        for program in programs:
            self.assertEqual(call(folder / program, timeout=60).strip(), "right", program)


class FindPackage(Consumer):
    def test_it_works(self):
        prefix = self.install(settings.build)
        parts = settings.version.split(".")
        self.expect_it_works(f"-DCMAKE_PREFIX_PATH={prefix}",
                             f"-DWANTED_VERSION={parts[0]}.{parts[1]}")
        for path in prefix.rglob("*handoff*.cmake"):
            self.assertNotIn(str(SOURCE), path.read_text(), path)

    def test_the_library_is_small_and_nothing_else_comes_along(self):
        files = [path for path in self.install(settings.build).rglob("*") if path.is_file()]
        self.assertLessEqual(len(files), LIBRARY_FILES_MOST)
        self.assertLessEqual(sum(path.stat().st_size for path in files), LIBRARY_BYTES_MOST)
        self.assertEqual({path.relative_to(self.folder / "moved here").parts[0] for path in files},
                         {"include", "lib", "share"})
        prefix = self.folder / "doc"
        call("cmake", "--install", settings.build, "--component", "doc", "--prefix", prefix)
        self.assertTrue((prefix / "share/doc/handoff/docs/guide/install.md").exists())
        self.assertFalse((prefix / "include").exists())

    def test_ranks_are_a_component_of_their_own(self):
        prefix = self.install(settings.build)
        self.assertFalse((prefix / "include/handoff/mpi").exists())
        call("cmake", "--install", settings.build, "--component", "mpi", "--prefix", prefix)
        if not (prefix / "include/handoff/mpi").exists():
            self.skipTest("no Open MPI where this was built")
        source = self.folder / "ranks"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(ranks CXX)\n"
            "find_package(handoff REQUIRED COMPONENTS mpi)\n"
            "add_executable(ranks ranks.cpp)\n"
            "target_link_libraries(ranks PRIVATE handoff::mpi)\n")
        (source / "ranks.cpp").write_text(
            "#include <handoff/mpi/rank_team.hpp>\n"
            "int main() {\n"
            "  handoff::RankTeam team;\n"
            "  return team.run(10, [](handoff::IndexRange) {}).done == 10 ? 0 : 1;\n"
            "}\n")
        call(*configure(source, self.build, f"-DCMAKE_PREFIX_PATH={prefix}", "--fresh"))
        call("cmake", "--build", self.build)
        call(self.build / "ranks")

    def test_another_version_and_unknown_components_are_refused(self):
        prefix = self.install(settings.build)
        for wanted, words in (("-DWANTED_VERSION=99", "requested version"),
                              ("-DWANTED_COMPONENTS=attic", "no component 'attic'")):
            with self.subTest(wanted):
                done = subprocess.run(
                    configure(PROJECT, self.build, f"-DCMAKE_PREFIX_PATH={prefix}", wanted,
                              "--fresh"),
                    capture_output=True, text=True, check=False)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(words, done.stderr)


class PkgConfig(Consumer):
    def test_it_works(self):
        prefix = self.install(settings.build)
        self.assertEqual(self.pkg_config(prefix, "--modversion").strip(), settings.version)
        flags = shlex.split(self.pkg_config(prefix, "--cflags", "--libs"))
        program = self.folder / "stranger"
        call(settings.compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", PROJECT / "main.cpp",
             "-o", program, *flags)
        self.assertEqual(call(program).strip(), settings.version)

    def test_a_program_takes_the_rooms_that_it_uses(self):
        prefix = self.install(settings.build)
        flags = shlex.split(self.pkg_config(prefix, "--cflags", "--libs"))
        program = self.folder / "small"
        call(settings.compiler, "-std=c++20", "-O2", PROJECT / "small.cpp", "-o", program, *flags,
             "-s", "-Wl,--gc-sections")
        self.assertEqual(call(program).strip(), "42 499500")
        self.assertLessEqual(program.stat().st_size, SMALL_BYTES_MOST)

    def test_a_program_in_c_finds_its_header(self):
        prefix = self.install(settings.build)
        flags = shlex.split(self.pkg_config(prefix, "--cflags-only-I"))
        call(settings.compiler, "-x", "c", "-std=c99", "-pedantic-errors", "-Wall", "-Wextra",
             "-Werror", "-fsyntax-only", SOURCE / "tests" / "c" / "peer.c", *flags)


class Programs(Consumer):
    """The library is built once, by add_subdirectory(), and installed from there. How CMake finds
    what is installed does not depend on the compiler."""

    def test_they_compile_at_the_first_try_and_work(self):
        call(*configure(PROGRAMS, self.build, f"-DHANDOFF_SOURCE={SOURCE}", "-DHANDOFF_INSTALL=ON",
                        *SOON))
        call("cmake", "--build", self.build)
        self.expect_right(self.build)
        flags = shlex.split(self.pkg_config(self.install(self.build), "--cflags", "--libs"))
        (self.folder / "told").mkdir()
        for source in PROGRAMS.glob("*.cpp"):
            call(settings.compiler, *settings.flags, "-std=c++20", "-O2", "-Wall", "-Wextra",
                 "-Wconversion", "-Wshadow", "-Werror", source, "-o",
                 self.folder / "told" / source.stem, *flags)
        self.expect_right(self.folder / "told")


class AddSubdirectory(Consumer):
    """As a shared library: Programs has it static."""

    def test_only_the_library_comes_along(self):
        shared = ("-DBUILD_SHARED_LIBS=ON", f"-DHANDOFF_SOURCE={SOURCE}", *SOON)
        told = self.expect_it_works(*shared)
        self.expect_right(self.build / "programs")
        # handoff_mpi where Open MPI is found; it is built only if something asks for it.
        self.assertRegex(told, r"targets: \[handoff;(handoff_mpi;)?handoff_eventpp;"
                               r"handoff_bs_thread_pool;handoff_bs_thread_pool_4;"
                               r"handoff_study_pool\]\n")
        self.assertIn("options: []\n", told)
        self.assertIn("launcher: []\n", told)
        self.assertFalse((self.build / "CTestTestfile.cmake").exists())

        prefix = self.folder / "installed"
        call("cmake", "--install", self.build, "--prefix", prefix)
        installed = [path.relative_to(prefix).as_posix() for path in prefix.rglob("*")
                     if path.is_file()]
        self.assertEqual(installed, ["bin/stranger"])

        self.found_with_headers_in_another_folder(*shared)

    def found_with_headers_in_another_folder(self, *shared):
        """The same build, asked to install the library too."""
        call(*configure(PROJECT, self.build, *shared, "-DHANDOFF_INSTALL=ON",
                        "-DCMAKE_INSTALL_INCLUDEDIR=headers/of_handoff"))
        call("cmake", "--build", self.build)
        prefix = self.install(self.build)
        self.assertFalse((prefix / "include").exists())
        self.assertTrue(list(prefix.rglob(f"libhandoff.so.{settings.version}")))
        self.assertFalse(list(prefix.rglob("libhandoff.a")))
        self.build = self.folder / "by find_package"
        self.expect_it_works(f"-DCMAKE_PREFIX_PATH={prefix}")


def lines_of_guide(heading, number=0):
    """A block of code of the guide, as it stands there."""
    section = GUIDE.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^```\w*\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)[number]


class Fresh(Consumer):
    """The programs on a machine that has nothing else."""

    def setUp(self):
        super().setUp()
        try:
            self.root = FreshRoot(Path(settings.build).parent, self.folder)
        except Missing as why:
            self.skipTest(f"there is no fresh machine: {why}")
        shutil.copytree(PROGRAMS, self.root.path("/programs"))

    def run_programs(self, folder):
        for source in PROGRAMS.glob("*.cpp"):
            self.assertEqual(self.root.call(f"{folder}/{source.stem}", timeout=60).strip(), "right")

    def build_and_run(self, *arguments):
        self.root.call("cmake", "-G", "Ninja", "-S", "/programs", "-B", "/build", *arguments)
        self.root.call("cmake", "--build", "/build")
        self.run_programs("/build")

    def apt_install(self, *packages):
        try:
            self.root.apt_install(*packages)
        except Missing as why:
            self.skipTest(str(why))

    def clone(self, folder):
        """A clone of this source, its files as they are now, as its branch main."""
        folder.mkdir(parents=True)
        git = ["git", "-C", folder, "-c", "user.name=x", "-c", "user.email=x@x.invalid"]
        listed = call("git", "-C", SOURCE, "ls-files", "-co", "--exclude-standard", "-z")
        for name in filter(None, listed.split("\0")):
            if (SOURCE / name).exists():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(SOURCE / name, folder / name, follow_symlinks=False)
        call(*git, "init", "--quiet", "--initial-branch", "main")
        call(*git, "add", "--all", "--force")
        call(*git, "commit", "--quiet", "--message", "all")
        return folder


class FreshInstalled(Fresh):
    """Found by CMake and by pkg-config, from this build."""

    def test_they_compile_at_the_first_try_and_work(self):
        prefix = self.install(settings.build)
        config = next(prefix.rglob("handoff.pc")).relative_to(prefix).parent
        shutil.move(prefix, self.root.path("/opt/handoff"))
        lines = self.root.path("/lines.cmake")
        lines.write_text(lines_of_guide("Install it with CMake", 1).partition("target_link")[0],
                         encoding="utf-8")
        self.build_and_run("-DCMAKE_PREFIX_PATH=/opt/handoff", "-DHANDOFF_LINES=/lines.cmake",
                           "-DCMAKE_BUILD_TYPE=Debug")
        command = lines_of_guide("Install it with CMake", 2).strip()
        for source in PROGRAMS.glob("*.cpp"):
            each = command.replace("yours.cpp", f"/programs/{source.name} -o /usr/bin/{source.stem}"
                                                " -O2 -Wall -Wextra -Wconversion -Wshadow -Werror")
            self.root.call(f"PKG_CONFIG_PATH=/opt/handoff/{config}", "sh", "-c", each)
        self.run_programs("/usr/bin")

    def test_a_program_that_is_not_right_is_noticed(self):
        self.root.path("/usr/bin").mkdir(parents=True)
        for source in PROGRAMS.glob("*.cpp"):
            shutil.copy("/bin/true", self.root.path("/usr/bin") / source.stem)
        with self.assertRaises(AssertionError):
            self.run_programs("/usr/bin")
        self.assertFalse((self.root.base / "usr/bin" / source.stem).exists())


class FreshSource(Fresh):
    """As a part of the stranger's project, by each of the guide's lines."""

    def build_with(self, number, packages=()):
        clone = self.clone(self.root.path("/programs/handoff"))
        if packages:
            self.apt_install(*packages)
        lines = lines_of_guide("A part of your project", number)
        self.root.path("/programs/lines.cmake").write_text(
            lines.replace("ADDRESS", "file:///clone"), encoding="utf-8")
        if number:
            clone.rename(self.root.path("/clone"))
        self.build_and_run("-DHANDOFF_LINES=lines.cmake", *SOON)

    def test_add_subdirectory(self):
        self.build_with(0)

    def test_fetch_content(self):
        self.build_with(1, ["git"])

    def test_cpm(self):
        """By what CPM does with these lines. CPM itself is no package of Debian's."""
        stand_in = self.root.path("/programs/cmake/CPM.cmake")
        stand_in.parent.mkdir()
        stand_in.write_text("""include(FetchContent)
function(CPMAddPackage)
  cmake_parse_arguments(arg "" "NAME;GIT_REPOSITORY;GIT_TAG" "" ${ARGN})
  FetchContent_Declare(${arg_NAME} GIT_REPOSITORY ${arg_GIT_REPOSITORY} GIT_TAG ${arg_GIT_TAG})
  FetchContent_MakeAvailable(${arg_NAME})
endfunction()
""", encoding="utf-8")
        self.build_with(2, ["git"])


class FreshDebian(Fresh):
    def test_the_packages_are_clean_and_work(self):
        clone = self.clone(self.folder / "deb" / "handoff")
        _, build, install = lines_of_guide("Debian packages").splitlines()
        call(*shlex.split(build), cwd=clone,
             env={**os.environ, "DEB_BUILD_OPTIONS": f"parallel={os.cpu_count()}"})
        call("dpkg-source", "--build", clone.name, cwd=clone.parent)
        call("lintian", "--allow-root", "--fail-on", "error,warning",
             *clone.parent.glob("*.changes"), *clone.parent.glob("*.dsc"))
        packages = [path for path in clone.parent.glob("*.deb") if "dbgsym" not in path.name]
        self.assertEqual(sorted(path.name.split("_")[:2] for path in packages),
                         [[name, settings.version]
                          for name in ("handoff-lab", "libhandoff-dev", "libhandoff0")])
        for path in packages:
            shutil.copy(path, self.root.path("/"))
        self.root.call("apt-get", "purge", "--yes", "liburing2")
        self.apt_install()
        self.root.call("sh", "-c", f"cd /root && {install} ../handoff-lab_*.deb")
        self.build_and_run("-DCMAKE_BUILD_TYPE=Debug")
        self.assertIn(settings.version, self.root.call("handoff", "--version"))


class FreshConan(Fresh):
    """Conan comes from PyPI; from then on there is no network."""

    def test_create_and_require(self):
        self.clone(self.root.path("/clone"))
        self.apt_install("python3-venv", "make")
        self.root.call("python3", "-m", "venv", "/venv")
        # PyPI by the way that this machine has to it.
        certificates = "/etc/ssl/certs/ca-certificates.crt"
        self.root.path(certificates).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(certificates, self.root.path(certificates))
        way = [f"{name}={value}" for name, value in os.environ.items() if name.startswith("PIP_")]
        try:
            self.root.call(*way, "/venv/bin/pip", "install", "conan==2.*")
        except AssertionError as told:
            self.skipTest(f"Conan was not to be had: {str(told)[-300:]}")
        conan = "PATH=/venv/bin:/usr/bin:/bin", "conan"
        self.root.call(*conan, "profile", "detect")
        self.root.call(*conan, "remote", "disable", "*")
        create = shlex.split(lines_of_guide("Conan").replace("ADDRESS", "/clone"))
        self.root.call(conan[0], *create, "-s", "build_type=Debug")
        self.root.call(*conan, "install", f"--requires=handoff/{settings.version}", *create[3:],
                       "-s", "build_type=Debug", "-g", "CMakeToolchain", "-g", "CMakeDeps",
                       "--output-folder=/conan")
        self.build_and_run("-DCMAKE_TOOLCHAIN_FILE=/conan/conan_toolchain.cmake",
                           "-DCMAKE_BUILD_TYPE=Debug")


def main():
    global settings
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="binary folder of a finished build")
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flag", dest="flags", action="append", default=[],
                        help="for the compiler, everywhere")
    parser.add_argument("--version", required=True, help="the version that must come out")
    settings, rest = parser.parse_known_args()
    done = unittest.main(argv=[sys.argv[0], *rest], exit=False, verbosity=2).result
    if done.wasSuccessful() and done.skipped:
        sys.exit(SKIPPED)   # ctest says so
    sys.exit(not done.wasSuccessful())


if __name__ == "__main__":
    main()
