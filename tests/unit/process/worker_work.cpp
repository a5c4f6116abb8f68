// SPDX-License-Identifier: MIT
//
// The worker program of worker_program_test.cpp, and programs that are none, as the first argument
// says.
#include "unit/process/worker_work.hpp"

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <handoff/process/worker_program.hpp>

#include "process/descriptor_message.hpp"
#include "process/worker_hello.hpp"

namespace {

using handoff::IndexRange;
using handoff::NamedKernel;
using namespace handoff::detail;
using namespace worker_work;

std::uint64_t the_version = 1;

void compute_rows(IndexRange range, const Work& work) {
  const auto rows = work.rows.get();
  const auto notes = work.notes.get();
  notes[0].version = the_version;
  for (const std::size_t i : range) {
    rows[i] = 0;  // half a row, for a moment
    if (i == 3 && notes[0].deaths < work.deaths) {
      ++notes[0].deaths;
      if (work.signal == 0) std::exit(7);
      ::signal(work.signal, SIG_DFL);  // without a sanitizer's handler, which would report it
      (void)::raise(work.signal);
    }
    rows[i] = row(work.factor, i);
  }
}

// By value, too.
void compute_slowly(IndexRange range, Work work) noexcept {
  const auto notes = work.notes.get();
  for (const std::size_t i : range) {
    ++notes[0].ready;
    ::usleep(1000);
    work.rows.get()[i] = row(work.factor, i);
  }
}

void hang_at_three(IndexRange range, const Work& work) {
  for (const std::size_t i : range) {
    const bool hangs = i == 3 && work.notes.get()[0].deaths++ < work.deaths;
    while (hangs) ::pause();
    work.rows.get()[i] = row(work.factor, i);
  }
}

void throw_always(IndexRange, const Work&) { throw std::runtime_error("no row today"); }

std::size_t names_in(const char* folder) {
  DIR* const listing = ::opendir(folder);
  std::size_t names = 0;
  while (listing != nullptr && ::readdir(listing) != nullptr) ++names;
  if (listing != nullptr) ::closedir(listing);
  return names;
}

void look_around(IndexRange, const Work& work) {
  Notes& notes = work.notes.get()[0];
  notes.worker = static_cast<std::uint64_t>(::getpid());
  notes.descriptors = names_in("/proc/self/fd") - 3;  // `.`, `..`, and that of the listing
  std::ifstream maps("/proc/self/maps");
  std::uint64_t count = 0;
  for (std::string line; std::getline(maps, line);)
    count += line.find("memfd:handoff") != line.npos;
  notes.mappings = count;
}

void copy_rows(IndexRange range, const Copy& copy) {
  for (const std::size_t i : range) copy.to.get()[i] = copy.from.get()[i];
}

int work(bool has_more) {
  std::vector<NamedKernel> kernels{{"rows", compute_rows},  {"slow", compute_slowly},
                                   {"hang", hang_at_three}, {"throw", throw_always},
                                   {"look", look_around},   {"copy", copy_rows}};
  if (has_more) kernels.emplace_back("more", compute_rows);
  return handoff::worker_main(kernels);
}

// A hello of one kernel, made wrong, and what a worker that is wanted would do next.
int say(const std::string& what) {
  WorkerHello hello;
  hello.count = 1;
  hello.kernels[0] = KernelSignature::of<Work>("rows");
  std::size_t bytes = WorkerHello::bytes_for(1);
  if (what == "garbage") hello.magic = 1;
  if (what == "version") hello.version = 99;
  if (what == "layout") hello.layout = 99;
  if (what == "cut") hello.count = 5;
  if (what == "nameless") hello.kernels[0].name[0] = ' ';
  if (what == "short") bytes = 7;
  const std::array<int, 3> gifts{0, 1, 2};
  const std::size_t given = what == "gives" ? gifts.size() : 0;
  (void)send_message(kWorkerSocket, &hello, bytes, {gifts.data(), given});
  WorkerWelcome welcome;
  if (receive_message(kWorkerSocket, &welcome, sizeof welcome, {}, MayWait::yes) <= 0) return 1;
  WorkerReady ready;
  if (what == "leaves") return 4;
  if (what == "stays") ::pause();
  if (what == "cannot" || what == "gives") ready.error = ENOMEM;
  if (what == "babbles") ready.magic = 1;
  (void)send_message(kWorkerSocket, &ready, sizeof ready);
  ::pause();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "works";
  if (what == "works") return work(false);
  if (what == "updated") {
    the_version = 2;
    return work(true);
  }
  if (what == "fewer") return handoff::worker_main({{"rows", compute_rows}});
  if (what == "other") return handoff::worker_main({{"rows", copy_rows}, {"copy", copy_rows}});
  if (what == "exits") return 3;
  if (what == "crashes") ::raise(SIGKILL);
  if (what == "waits") ::pause();
  if (what == "closes") {
    ::close(kWorkerSocket);
    ::pause();
  }
  return say(what);
}
