// SPDX-License-Identifier: MIT
// Contenders of `spawn` that misbehave.
#include "scenarios/spawn/measure.hpp"

namespace handoff::lab::spawn {
namespace {

// Starts no thread, but does the work itself.
void calls(Word& word) { word.store(); }

// Starts a thread for nothing, but for each fifth time.
void forgets(Word& word) {
  static int started = 0;
  const bool works = ++started % 5 == 0;
  std::thread([&] {
    if (works) word.store();
  }).join();
}

// Starts no worker, and gives itself out for one.
struct Pretends {
  static pid_t start() { return getpid(); }
  static void end() {}
};

// Starts one worker, and says that it is a new one each time.
class Keeps : Pinned {
 public:
  Keeps() : child_(fork()) {
    while (child_ == 0) pause();
  }
  ~Keeps() { peers::end_child(child_); }

  [[nodiscard]] pid_t start() const { return child_; }
  void end() {}

 private:
  pid_t child_;
};

// Does the jobs in no other process.
class Itself {
 public:
  void begin(Number /*number*/) {}
  Answer end() { return do_job(next_++); }

 private:
  Number next_ = 1;
};

// Each tenth job has the answer of the one before.
class Wrong {
 public:
  void begin(Number /*number*/) {}
  Answer end() {
    const Number number = next_++;
    return {number - (number % 10 == 0 ? 1 : 0), getpid() + 1};
  }

 private:
  Number next_ = 1;
};

// Leaves a block of rows out, once.
class Leaves {
 public:
  explicit Leaves(std::size_t /*width*/) {}
  void run(const Rows& rows) { rows.do_block(rows.run == 3 ? kBlock : 0, rows.count); }
};

// Does the last row of each run twice.
class Repeats {
 public:
  explicit Repeats(std::size_t /*width*/) {}
  void run(const Rows& rows) {
    rows.do_block(0, rows.count);
    rows.do_block(rows.count - 1, rows.count);
  }
};

// Looks at memory each second time only.
class LooksAway {
 public:
  std::uint64_t look() { return ++count_ % 2 == 0 ? kFirstWord : 0; }

 private:
  std::uint64_t count_ = 0;
};

}  // namespace

Prepared contender(const Parameters& parameters) {
  return chosen<Prepared(const Parameters&)>({{"peer.calls", measure_threads<calls>},
                                              {"peer.forgets", measure_threads<forgets>},
                                              {"peer.pretends", measure_ready<Pretends>},
                                              {"peer.keeps", measure_ready<Keeps>},
                                              {"peer.does_it_itself", measure_jobs<Itself>},
                                              {"peer.answers_wrongly", measure_jobs<Wrong>},
                                              {"peer.leaves_rows", measure_claims<Leaves>},
                                              {"peer.repeats_rows", measure_claims<Repeats>},
                                              {"peer.looks_away", measure_attach<LooksAway>}})(
      parameters);
}

}  // namespace handoff::lab::spawn
