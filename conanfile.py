# SPDX-License-Identifier: MIT
"""The recipe for Conan 2: the library, without the lab (docs/guide/install.md)."""

import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import load


class Handoff(ConanFile):
    name = "handoff"
    description = "Ways to hand work from the code that has it to the code that does it"
    license = "MIT"
    topics = ("thread-pool", "task-graph", "event-queue", "message-bus", "parallel")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": False}
    exports_sources = ("CMakeLists.txt", "LICENSE", "cmake/*", "compat/*", "include/*", "src/*")

    def set_version(self):
        text = load(self, f"{self.recipe_folder}/CMakeLists.txt")
        self.version = re.search(r"project\(handoff VERSION (\S+)", text)[1]

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "LAB", "EXAMPLES", "COPY"):
            toolchain.cache_variables[f"HANDOFF_{part}"] = False
        # By threads: what liburing the machine has is not Conan's to know.
        toolchain.cache_variables["HANDOFF_WITH_URING"] = "OFF"
        toolchain.cache_variables["HANDOFF_MPI"] = "OFF"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install(component="library")

    def package_info(self):
        self.cpp_info.libs = ["handoff"]
        self.cpp_info.system_libs = ["pthread"]
        # handoffConfig.cmake is the library's own.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/handoff"]
