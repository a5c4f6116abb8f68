// SPDX-License-Identifier: MIT
//
// What jobs_test.py starts by mpirun: a run that it kills and starts again, and ranks that do
// wrong.
//
//   job run ROWS BLOCK NAP_US INPUT CHECKPOINT RESULTS COMPUTED
//       JOB_FILE_BYTES in the environment: files that grow beyond cannot be written
//   job list CHECKPOINT              the rows that are finished
//   job silent | leave | claim | threads
//
// An exception is one line on standard error, by the rank that may tell it, and ends with 3.
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <handoff/file/append_log_reader.hpp>
#include <handoff/mpi/rank_team.hpp>

#include "support/failing.hpp"

namespace {

using namespace std::chrono_literals;

bool fail_claims = false;

void run(char** arguments) {
  const std::size_t rows = std::stoul(arguments[0]);
  const std::size_t block = std::stoul(arguments[1]);
  const std::chrono::microseconds nap(std::stol(arguments[2]));
  handoff::RankTeam team{{.threads = 1}};
  if (std::getenv("JOB_FILE_BYTES") != nullptr) {
    const rlim_t bytes = std::stoul(std::getenv("JOB_FILE_BYTES"));
    const rlimit limit{bytes, bytes};
    (void)::signal(SIGXFSZ, SIG_IGN);
    (void)::setrlimit(RLIMIT_FSIZE, &limit);
  }
  const int computed = ::open(arguments[6], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const auto compute = [&](handoff::IndexRange range, std::span<std::uint64_t> out) {
    for (const std::size_t row : range) {
      const std::uint64_t line = row;
      if (::write(computed, &line, sizeof line) != sizeof line) throw std::runtime_error("write");
      std::this_thread::sleep_for(nap);
      out[2 * (row - range.first)] = row * 0x9e37'79b9'7f4a'7c15U;
      out[2 * (row - range.first) + 1] = ~row;
    }
  };
  std::vector<std::uint64_t> results(team.rank() == 0 ? 2 * rows : 0);
  const handoff::Tally tally =
      team.run(rows, compute, results,
               {.block = block, .checkpoint = arguments[4], .input = std::stoul(arguments[3])});
  if (team.rank() != 0) return;
  std::ofstream(arguments[5], std::ios::binary)
      .write(reinterpret_cast<const char*>(results.data()),
             static_cast<std::streamsize>(results.size() * sizeof results[0]));
  std::printf("done %llu, restored %llu\n", static_cast<unsigned long long>(tally.done),
              static_cast<unsigned long long>(team.statistics().restored));
}

void list(const char* checkpoint) {
  for (const handoff::AppendLogRecord& record : handoff::AppendLogReader(checkpoint, {.from = 2})) {
    handoff::IndexRange range;
    std::memcpy(&range, record.bytes.data(), sizeof range);
    for (const std::size_t row : range) std::printf("%zu\n", row);
  }
}

// Ranks of other machines, as far as the team can tell: rank 1 stops, and is not heard of again.
void fall_silent() {
  handoff::RankTeam team{{.threads = 1, .patience = 3s, .ranks_per_node = 1}};
  (void)team.run(100,
                 [&](handoff::IndexRange) {
                   if (team.rank() == 1) ::raise(SIGSTOP);
                   std::this_thread::sleep_for(1ms);
                 },
                 {.block = 1});
}

// Rank 1 does not come to the call that the others wait in.
void leave() {
  handoff::RankTeam team{{.threads = 1}};
  if (team.rank() == 1) throw std::runtime_error("rank 1 gives up");
  (void)team.run(10, [](handoff::IndexRange) {});
}

void fail_a_claim() {
  handoff::RankTeam team{{.threads = 1, .ranks_per_node = 1}};
  fail_claims = team.rank() == 1;
  (void)team.run(1000, [](handoff::IndexRange) { std::this_thread::sleep_for(1ms); });
}

// No thread can be had. MPI has its own ones before.
void refuse_threads() {
  int level = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
  handoff::test::fail_after(handoff::test::Call::thread, 0, EAGAIN);
  handoff::RankTeam team{{.threads = 1}};
}

}  // namespace

extern "C" int MPI_Rget_accumulate(const void* origin, int count, MPI_Datatype type, void* result,
                                   int result_count, MPI_Datatype result_type, int rank,
                                   MPI_Aint at, int target_count, MPI_Datatype target_type,
                                   MPI_Op operation, MPI_Win window, MPI_Request* request) {
  if (fail_claims) return MPI_ERR_RMA_SYNC;
  return PMPI_Rget_accumulate(origin, count, type, result, result_count, result_type, rank, at,
                              target_count, target_type, operation, window, request);
}

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
  try {
    if (what == "run" && argc == 9) run(argv + 2);
    if (what == "list") list(argv[2]);
    if (what == "silent") fall_silent();
    if (what == "leave") leave();
    if (what == "claim") fail_a_claim();
    if (what == "threads") refuse_threads();
    return JOB_BUILD == 1 ? 0 : 4;
  } catch (const std::exception& error) {
    const bool is_alone = what == "leave" || what == "claim";
    if (is_alone || rank == nullptr || *rank == '0')
      std::fprintf(stderr, "job: %s\n", error.what());
    return 3;
  }
}
