// SPDX-License-Identifier: MIT
//
// What a case says (case.hpp).
#include "rows.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "../case.hpp"

namespace handoff::counts {

Row* row_of_all = nullptr;

namespace {

std::array<Row, 64> rows;  // of one case

Row& find(std::string_view name) noexcept {
  for (Row& row : rows) {
    if (row.name[0] == '\0') name.copy(row.name.data(), row.name.size() - 1);
    if (name == row.name.data()) return row;
  }
  std::fprintf(stderr, "a case has too many rows, or one with too long a name\n");
  std::_Exit(3);
}

}  // namespace

void print_rows() noexcept {
  for (const Row& row : rows) {
    if (row.name[0] == '\0') break;
    std::printf("%s\t%llu", row.name.data(), static_cast<unsigned long long>(row.operations));
    for (std::size_t i = 0; i < row.counts.size(); ++i) {
      if (row.counts[i] == 0) continue;
      std::printf("\t%s=%llu", event_names[i], static_cast<unsigned long long>(row.counts[i]));
    }
    std::printf("\n");
  }
}

Counted::Counted(std::string_view row, bool counts, unsigned operations) : counts_(counts) {
  if (!counts_) return;
  commit_own_polls();
  Thread& me = self();
  before_ = me.row;
  me.row = &find(row);
  me.row->operations += operations;
}

Counted::~Counted() {
  if (!counts_) return;
  commit_own_polls();
  self().row = before_;
}

CountedOfAll::CountedOfAll(std::string_view row, bool counts, unsigned operations)
    : counts_(counts) {
  if (!counts_) return;
  commit_own_polls();
  row_of_all = &find(row);
  row_of_all->operations += operations;
}

CountedOfAll::~CountedOfAll() {
  if (!counts_) return;
  commit_own_polls();
  row_of_all = nullptr;
}

void settle() {
  commit_own_polls();
  for (std::uint64_t before = progress() - 1; progress() != before;) {
    before = progress();
    pass();
  }
}

void let_all_sleep() {
  commit_own_polls();
  while (others_are_ready()) pass();
}

void give_turn() {
  commit_own_polls();
  pass();
}

void sleep_for(long long ns) {
  commit_own_polls();
  sleep_at(1, look_at_clock() + ns);
}

Slice::Slice(unsigned accesses) : before_(slice()) { set_slice(accesses); }
Slice::~Slice() { set_slice(before_); }

// What is said to a helper lies in memory that no cache of the model knows.
struct Helper::State {
  pthread_t thread{};
  std::function<void()> function;
  bool ends = false;

  std::uintptr_t place() const noexcept { return reinterpret_cast<std::uintptr_t>(this); }

  static void* loop(void* state) noexcept {
    State& own = *static_cast<State*>(state);
    while (!own.ends) {
      if (!own.function) {
        sleep_at(own.place(), never);
        continue;
      }
      own.function();
      commit_own_polls();
      own.function = nullptr;
      wake(own.place() + 1, most_caches);
    }
    return nullptr;
  }
};

Helper::Helper() : state_(new State) {
  if (start_thread(&state_->thread, &State::loop, state_) != 0) std::abort();
}

Helper::~Helper() {
  wait();
  state_->ends = true;
  wake(state_->place(), 1);
  join_thread(state_->thread, nullptr);
  delete state_;
}

void Helper::begin(std::function<void()> function) {
  wait();
  state_->function = std::move(function);
  wake(state_->place(), 1);
}

void Helper::wait() {
  commit_own_polls();
  while (state_->function) sleep_at(state_->place() + 1, never);
}

void Helper::run(std::function<void()> function) {
  begin(std::move(function));
  wait();
}

}  // namespace handoff::counts
