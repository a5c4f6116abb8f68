// SPDX-License-Identifier: MIT
//
// The table of docs/guide/events.md, "which listeners are called, and when", row by row: what a
// listener may do to its own list in a pass, on one thread and beside another one that calls, adds
// and removes.
#include <cctype>

#include "support/test.hpp"

namespace {

using namespace handoff;
using List = CallbackList<void()>;

// Another thread that passes over the list, and adds and removes a listener, as long as it may.
class Neighbour {
 public:
  Neighbour(List& list, bool removes_and_waits)
      : list_(list), removes_and_waits_(removes_and_waits), thread_([this] { run(); }) {
    while (!has_passed_.load()) std::this_thread::yield();
  }
  ~Neighbour() {
    leave();
    thread_.join();
  }

  // Returns while it is in a pass, which goes on once the list has gone.
  void wait_in_a_pass() {
    ends_list_.store(true);
    while (!waits_.load()) std::this_thread::yield();
  }
  void leave() { leaves_.store(true); }

 private:
  void run() {
    while (!leaves_.load()) {
      const unsigned before = calls_;
      const ListenerHandle own = list_.prepend([this, me = std::this_thread::get_id()] {
        if (std::this_thread::get_id() != me) return;
        ++calls_;
        if (!ends_list_.load()) return;
        waits_.store(true);
        while (!leaves_.load()) std::this_thread::yield();
      });
      list_();
      EXPECT_EQ(calls_, before + 1);
      removes_and_waits_ ? own.remove_and_wait() : own.remove();
      has_passed_.store(true);
    }
  }

  List& list_;
  const bool removes_and_waits_;
  unsigned calls_ = 0;  // of its listeners, by its thread
  std::atomic<bool> has_passed_{false};
  std::atomic<bool> ends_list_{false};
  std::atomic<bool> waits_{false};
  std::atomic<bool> leaves_{false};
  std::thread thread_;
};

// A list of three; the second acts in its first call on this thread.
struct Stage {
  explicit Stage(std::function<void(Stage&)> act) {
    first = list->append(say('1'));
    actor = list->append([this, says = say('2'), acts = std::move(act)]() mutable {
      says();
      if (std::this_thread::get_id() != own_thread) return;
      if (const auto now = std::exchange(acts, nullptr)) now(*this);
    });
    last = list->append(say('3'));
  }
  ~Stage() { neighbour.reset(); }

  // What was called on this thread.
  std::function<void()> say(char name) {
    return [this, name] {
      if (std::this_thread::get_id() == own_thread) calls += name;
    };
  }
  std::string pass() {
    calls.clear();
    (*list)();
    return calls;
  }
  void end_list() {
    if (neighbour) neighbour->wait_in_a_pass();
    list.reset();
    if (neighbour) neighbour->leave();
  }

  const std::thread::id own_thread = std::this_thread::get_id();
  std::string calls;
  std::unique_ptr<List> list = std::make_unique<List>();
  ListenerHandle first, actor, last;
  std::unique_ptr<Neighbour> neighbour;
};

struct Row {
  std::string name;
  std::function<void(Stage&)> act;
  std::string this_pass;
  std::string next_pass;  // empty: there is no list any more
  bool throws = false;
};

const Row rows[] = {
    {"a listener is appended", [](Stage& s) { s.list->append(s.say('n')); }, "123", "123n"},
    {"a listener is prepended", [](Stage& s) { s.list->prepend(s.say('n')); }, "123", "n123"},
    {"a listener is inserted", [](Stage& s) { s.list->insert(s.last, s.say('n')); }, "123", "12n3"},
    {"a listener is removed that has not been called yet",
     [](Stage& s) { EXPECT_TRUE(s.last.remove()); }, "12", "12"},
    {"the same with remove_and_wait", [](Stage& s) { EXPECT_TRUE(s.last.remove_and_wait()); }, "12",
     "12"},
    {"a listener removes itself", [](Stage& s) { EXPECT_TRUE(s.actor.remove()); }, "123", "13"},
    {"a listener removes itself with remove_and_wait",
     [](Stage& s) { EXPECT_TRUE(s.actor.remove_and_wait()); }, "123", "13"},
    {"a listener calls the list again", [](Stage& s) { (*s.list)(); }, "121233", "123"},
    {"a listener destroys the list", [](Stage& s) { s.end_list(); }, "12", ""},
    {"a listener throws", [](Stage&) { throw std::runtime_error("as asked"); }, "12", "123", true},
};

class Reentrancy : public testing::TestWithParam<std::tuple<Row, bool>> {};

TEST_P(Reentrancy, Holds) {
  const auto& [row, beside_another] = GetParam();
  const int rounds = beside_another ? 50 : 1;
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    Stage stage(row.act);
    const bool ends = row.next_pass.empty();
    if (beside_another) stage.neighbour = std::make_unique<Neighbour>(*stage.list, !ends);
    if (row.throws) {
      EXPECT_THROW(stage.pass(), std::runtime_error);
    } else {
      stage.pass();
    }
    EXPECT_EQ(stage.calls, row.this_pass);
    if (ends) {
      EXPECT_EQ(stage.list, nullptr);
      EXPECT_FALSE(stage.first.attached());
      continue;
    }
    EXPECT_EQ(stage.pass(), row.next_pass);
    stage.neighbour.reset();
    EXPECT_EQ(stage.list->size(), row.next_pass.size());
  }
}

std::string name_of(const testing::TestParamInfo<std::tuple<Row, bool>>& info) {
  std::string name = std::get<0>(info.param).name;
  name += std::get<1>(info.param) ? " beside another thread" : " on one thread";
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Events, Reentrancy,
                         testing::Combine(testing::ValuesIn(rows), testing::Bool()), name_of);

}  // namespace
