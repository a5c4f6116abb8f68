// SPDX-License-Identifier: MIT
//
// A folder of documents, and a parser that crashes on some of them: worker processes parse them all
// the same, and at the end there is a list of those that kill. Each good one is entered into a log
// exactly once, though some are parsed twice.
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>
#include <string>

#include <handoff/process/process_team.hpp>
#include <handoff/process/shared_memory.hpp>

namespace {

constexpr std::size_t document_count = 200;

// What all processes see: inputs, results, and the log.
struct Shelf {
  struct Entry {
    std::atomic<bool> is_in_log{false};
    std::uint32_t words = 0;
  };
  std::array<char[32], document_count> documents;
  std::array<Entry, document_count> results;
  std::atomic<std::uint32_t> log_size{0};
  std::atomic<std::uint32_t> crashes{0};
};
static_assert(std::atomic<bool>::is_always_lock_free, "a lock in there would die with a worker");

// Somebody else's code, which runs over at a document that is not closed.
std::uint32_t count_words(const char* text) {
  std::uint32_t words = 1;
  for (; *text != '.'; ++text) {
    if (*text == '\0') std::raise(SIGSEGV);
    words += *text == ' ' ? 1U : 0U;
  }
  return words;
}

struct Job {
  Shelf* shelf;  // at the same address in each process
};

// Called again for a document whose worker died. The result is the same each time, so it is just
// written again. The log is not: one exchange commits, and only the call that makes it counts.
void parse(handoff::IndexRange range, const Job& job) {
  for (const std::size_t i : range) {
    Shelf::Entry& entry = job.shelf->results[i];
    entry.words = count_words(job.shelf->documents[i]);
    if (!entry.is_in_log.exchange(true)) ++job.shelf->log_size;
    // This one is killed from outside, once, after all was done and before anybody knew.
    if (i == 77 && job.shelf->crashes++ == 0) std::raise(SIGKILL);
  }
}

}  // namespace

int main() {
  const auto memory = handoff::SharedMemory::create({.bytes = sizeof(Shelf)});
  Shelf& shelf = *new (memory.bytes().data()) Shelf;
  for (std::size_t i = 0; i < document_count; ++i) {
    const char* const end = i % 50 == 49 ? "" : ".";
    std::snprintf(shelf.documents[i], sizeof shelf.documents[i], "page %zu%s", i, end);
  }

  // The memory first: workers have what is mapped when the team is made.
  handoff::ProcessTeam team{{.width = 4}};
  try {
    (void)team.run<parse>(document_count, Job{&shelf}, {.block = 1});
  } catch (const handoff::WorkFailed& lost) {
    std::printf("%s\n", lost.what());
  }
  for (const handoff::LostWork& lost : team.lost()) {
    std::printf("document %zu: %s\n", lost.indices.first, lost.end.text().c_str());
  }
  const handoff::Tally tally = team.tally();
  std::printf("%llu done, %llu failed, %u in the log\n",
              static_cast<unsigned long long>(tally.done),
              static_cast<unsigned long long>(tally.failed), shelf.log_size.load());

  bool right = tally.done == 196 && tally.failed == 4 && team.lost().size() == 4;
  right = right && shelf.log_size == 196 && shelf.crashes == 2;
  for (std::size_t i = 0; i < document_count; ++i) {
    right = right && shelf.results[i].words == (i % 50 == 49 ? 0U : 2U);
  }
  return right ? 0 : 1;
}
