// SPDX-License-Identifier: MIT
//
// Wherever code of the user's runs, it may call the library again: each place at which a type runs
// such code, and each call of the same object that it makes there. A call may be refused as misuse;
// none may hang. What the contract leaves undefined is not tried.
//
// A subject is a type with its places and its calls:
//
//   struct Subject {
//     static void fill(Table<Subject>& table);   // with place(), call() and left_out()
//   };
//
// A place arranges that inside() runs there, once at least, on whatever thread. Subjects that
// differ in values alone derive from one that has the table, and name it as `Filled`.
#pragma once

#include "support/test.hpp"

namespace handoff::test::reentry {

using Inside = std::function<void()>;

// Calls `inside` when it ends, unless it was moved from. What is copied from it does not.
class Ends {
 public:
  Ends() noexcept = default;
  explicit Ends(const Inside& inside) noexcept : inside_(&inside) {}
  Ends(Ends&& other) noexcept : inside_(std::exchange(other.inside_, nullptr)) {}
  Ends(const Ends& /*other*/) noexcept {}
  Ends& operator=(Ends&& other) noexcept {
    // As a std::unique_ptr does: what it held ends when it holds the other already.
    const Ends held(std::move(*this));
    inside_ = std::exchange(other.inside_, nullptr);
    return *this;
  }
  Ends& operator=(const Ends&) = delete;
  ~Ends() {
    if (const Inside* const inside = std::exchange(inside_, nullptr)) (*inside)();
  }

 private:
  const Inside* inside_ = nullptr;
};

template <class Subject>
class Table {
 public:
  struct Place {
    const char* name;
    void (*arrange)(Subject& subject, const Inside& inside);
  };
  struct Call {
    const char* name;
    void (*make)(Subject& subject);
  };

  void place(const char* name, decltype(Place::arrange) arrange) {
    places.push_back({name, arrange});
  }
  void call(const char* name, decltype(Call::make) make) { calls.push_back({name, make}); }
  // Undefined by the contract, with the words that say so.
  void left_out(const std::string& place, const std::string& call, const char* /*why*/) {
    cells_left_out.insert(place + ": " + call);
  }

  std::vector<Place> places;
  std::vector<Call> calls;
  std::set<std::string> cells_left_out;
};

struct Cell {
  std::string name;
  std::function<std::string()> run;  // what went wrong
};

template <class Subject>
struct FilledBy {
  using Type = Subject;
};
template <class Subject>
  requires requires { typename Subject::Filled; }
struct FilledBy<Subject> {
  using Type = typename Subject::Filled;
};
template <class Subject>
using TableOf = Table<typename FilledBy<Subject>::Type>;

// One cell, of a subject of its own.
template <class Subject>
Cell cell_of(const typename TableOf<Subject>::Place& place,
             const typename TableOf<Subject>::Call& call) {
  return {std::string(place.name) + ": " + call.name, [&place, &call]() -> std::string {
            std::atomic<int> reached{0};
            auto subject = std::make_unique<Subject>();
            const Inside inside = [&] {
              if (reached++ != 0) return;  // a call that comes by the same place again
              try {
                call.make(*subject);
              } catch (const std::exception&) {  // told, as misuse or as a refusal
              }
            };
            place.arrange(*subject, inside);
            subject.reset();
            return reached != 0 ? "" : "the place was not reached";
          }};
}

template <class Subject>
std::vector<Cell> cells_of() {
  // Never destroyed: a thread that hangs is left alone with it.
  static const TableOf<Subject>& table = *[] {
    auto* const made = new TableOf<Subject>;
    Subject::fill(*made);
    return made;
  }();
  std::vector<Cell> cells;
  for (const auto& place : table.places) {
    for (const auto& call : table.calls) {
      Cell cell = cell_of<Subject>(place, call);
      if (!table.cells_left_out.contains(cell.name)) cells.push_back(std::move(cell));
    }
  }
  return cells;
}

// Runs a cell on a thread of its own; "it hangs" if that does not end in time. Then the thread is
// left alone with the cell, and the test is to end.
inline std::string fault_of(const Cell& cell, std::chrono::milliseconds patience) {
  struct Watched {
    std::mutex mutex;
    std::condition_variable news;
    bool ended = false;
    std::string fault;
  };
  const auto watched = std::make_shared<Watched>();
  std::thread runner([watched, cell] {
    std::string fault = cell.run();
    const std::lock_guard lock(watched->mutex);
    watched->ended = true;
    watched->fault = std::move(fault);
    watched->news.notify_all();
  });
  std::unique_lock lock(watched->mutex);
  if (watched->news.wait_for(lock, patience, [&] { return watched->ended; })) {
    lock.unlock();
    runner.join();
    return watched->fault;
  }
  runner.detach();
  return "it hangs";
}

// All cells once, then random ones.
inline void walk(const std::vector<Cell>& cells) {
  constexpr std::chrono::seconds patience{60};
  ASSERT_FALSE(cells.empty());
  auto random = test::random();
  const std::size_t rounds = test::deep() ? 10'000 : 100;
  for (std::size_t round = 0; round < std::max(rounds, cells.size()); ++round) {
    const Cell& cell = cells[round < cells.size() ? round : random() % cells.size()];
    const std::string fault = fault_of(cell, patience);
    ASSERT_EQ(fault, "") << cell.name;
  }
}

template <class Subject>
class ReentryTest : public testing::Test {};
TYPED_TEST_SUITE_P(ReentryTest);
TYPED_TEST_P(ReentryTest, NoCallFromInsideHangs) { walk(cells_of<TypeParam>()); }
REGISTER_TYPED_TEST_SUITE_P(ReentryTest, NoCallFromInsideHangs);

}  // namespace handoff::test::reentry
