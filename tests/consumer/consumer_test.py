# SPDX-License-Identifier: MIT
"""A stranger's project, built in each way a stranger may come to the library.

Named by the test class to run: FindPackage, PkgConfig, AddSubdirectory. Five programs are built and
run in each of these ways: with the compiler of this build by AddSubdirectory and
InstalledPrograms, with another one or another standard library by Programs. What is installed
is moved as a whole before it is used, so a path of this machine in it would be found out.
"""

import argparse
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parent / "project"
PROGRAMS = Path(__file__).resolve().parent / "programs"
SOURCE = Path(__file__).resolve().parents[2]
# The library itself in less time: nothing here depends on how it is optimised.
SOON = ("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0",
        "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=16")
SMALL_BYTES_MOST = 180 * 1024  # a named pool, a future and a loop, stripped
settings = None  # the command line


def call(*command, **keywords):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          check=False, **keywords)
    if done.returncode != 0:
        raise AssertionError(f"{shlex.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


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
        call("cmake", "--install", binary_folder, "--prefix", self.folder / "first")
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


class InstalledPrograms(Consumer):
    """Found by CMake and by pkg-config, from this build."""

    def test_they_compile_at_the_first_try_and_work(self):
        self.expect_they_work_with(self.install(settings.build))

    def build_and_run(self, build, *arguments):
        call(*configure(PROGRAMS, build, "-DCMAKE_BUILD_TYPE=Debug", *arguments))
        call("cmake", "--build", build)
        self.expect_right(build)

    def expect_they_work_with(self, prefix):
        self.build_and_run(self.folder / "found", f"-DCMAKE_PREFIX_PATH={prefix}")
        self.expect_pkg_config_finds_it(prefix)

    def expect_pkg_config_finds_it(self, prefix):
        flags = shlex.split(self.pkg_config(prefix, "--cflags", "--libs"))
        (self.folder / "told").mkdir()
        for source in PROGRAMS.glob("*.cpp"):
            call(settings.compiler, *settings.flags, "-std=c++20", "-O2", "-Wall", "-Wextra",
                 "-Wconversion", "-Wshadow", "-Werror", source, "-o",
                 self.folder / "told" / source.stem, *flags)
        self.expect_right(self.folder / "told")


class Programs(InstalledPrograms):
    """The library is built once, by add_subdirectory(), and installed from there. How CMake finds
    what is installed does not depend on the compiler."""

    def test_they_compile_at_the_first_try_and_work(self):
        self.build_and_run(self.build, f"-DHANDOFF_SOURCE={SOURCE}", "-DHANDOFF_INSTALL=ON", *SOON)
        self.expect_pkg_config_finds_it(self.install(self.build))


class AddSubdirectory(Consumer):
    """As a shared library: Programs has it static."""

    def test_only_the_library_comes_along(self):
        shared = ("-DBUILD_SHARED_LIBS=ON", f"-DHANDOFF_SOURCE={SOURCE}", *SOON)
        told = self.expect_it_works(*shared)
        self.expect_right(self.build / "programs")
        self.assertIn("targets: [handoff;handoff_eventpp;handoff_bs_thread_pool;"
                      "handoff_bs_thread_pool_4;handoff_study_pool]\n", told)
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


def main():
    global settings
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="binary folder of a finished build")
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flag", dest="flags", action="append", default=[],
                        help="for the compiler, everywhere")
    parser.add_argument("--version", required=True, help="the version that must come out")
    settings, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
