// SPDX-License-Identifier: MIT
// mpi4py.futures: blocks of rows, four a worker, are tasks of NumPy, whose results come back to the
// master by messages. A and B lie in memory that all of them have mapped.

#include "peers/mpi4py.hpp"
#include "scenarios/matmul/contender.hpp"

namespace handoff::lab::matmul {
namespace {

std::map<const void*, int> files;  // of matrices' memory

std::string path_of(const void* memory) {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(files.at(memory));
}

}  // namespace

std::shared_ptr<std::byte> matrix_memory(std::size_t bytes) {
  const int file = memfd_create("matrix", MFD_CLOEXEC);
  void* place = MAP_FAILED;
  if (file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0) {
    place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  if (place == MAP_FAILED) throw Unavailable("there is no shared memory for a matrix");
  files[place] = file;
  return {static_cast<std::byte*>(place), [bytes, file](std::byte* memory) {
            munmap(memory, bytes);
            close(file);
          }};
}

Operation contender(const Task& task) {
  setenv("OPENBLAS_NUM_THREADS", "1", 1);  // of a worker
  const auto words = std::visit(
      [&task](const auto& o) {
        const char* const type = sizeof *o.c == sizeof(float) ? "f4" : "f8";
        return std::vector<std::string>{path_of(o.a),
                                        path_of(o.b),
                                        path_of(task.output),
                                        std::to_string(task.m),
                                        std::to_string(task.n),
                                        std::to_string(task.k),
                                        type};
      },
      task.operands);
  const auto pool = std::make_shared<peers::Mpi4py>(task.width, "rows", words);
  return [pool] {
    constexpr std::size_t blocks_a_worker = 4;
    pool->ask(blocks_a_worker, 0);
  };
}

}  // namespace handoff::lab::matmul
