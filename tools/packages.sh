# SPDX-License-Identifier: MIT
# The Debian packages behind the two commands, by what needs them. Read by `run` and `check`.

packages_build=(g++ cmake ninja-build ccache)
# With it the library reads and writes files by io_uring; without it, by threads.
packages_library=(liburing-dev)
packages_lab=(libcli11-dev libfmt-dev nlohmann-json3-dev libkainjow-mustache-dev libhwloc-dev
  libtomlplusplus-dev pkg-config)
packages_contenders=(libtbb-dev libopenblas-pthread-dev libdnnl-dev libeigen3-dev)
# Other libraries that the lab measures beside this one. The program is complete without them.
packages_peers=(libboost-dev libasio-dev libconcurrentqueue-dev libreaderwriterqueue-dev
  libatomic-queue-dev libpthreadpool-dev libzmq3-dev cppzmq-dev libnng-dev libuv1-dev
  libsqlite3-dev libboost-filesystem-dev fio rsync pigz zlib1g-dev)

# A renderer among the examples; all else is complete without them.
packages_render=(libegl-dev libgles-dev libegl-mesa0 libgl1-mesa-dri libpng-dev)

# RankTeam, the room mpi/; all else is complete without it.
packages_mpi=(libopenmpi-dev openmpi-bin)

packages_run=("${packages_build[@]}" "${packages_lab[@]}" "${packages_contenders[@]}")
packages_check=("${packages_run[@]}" "${packages_library[@]}" "${packages_peers[@]}"
  "${packages_render[@]}" "${packages_mpi[@]}" systemtap-sdt-dev libgtest-dev librapidcheck-dev make
  clang-19 clang-format-19 clang-tidy-19 libclang-rt-19-dev libc++-19-dev libc++abi-19-dev
  valgrind python3 python3-clang-19 python3-numpy python3-jsonschema chromium doxygen git
  groff-base debootstrap debhelper lintian)
