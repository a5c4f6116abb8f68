// SPDX-License-Identifier: MIT
//
// The tester is tested: small programs whose outcomes the memory models define, each explored
// completely, and the set of outcomes compared with the right one, in both directions.
//
// A row of the table has for each memory mode the outcomes that it allows: RC11 for `cpp`, x86-TSO
// for `x86`, interleavings for `sequential`. An outcome is the values that the program notes, in
// order, a digit each. `gap` holds those that RC11 allows and the explorer does not show, and only
// what docs/design/explorer.md lists may stand there.
// The names are those of the literature: SB store buffering, MP message passing, LB load buffering,
// IRIW independent reads of independent writes, WRC write-to-read causality, RWC read-to-write
// causality, Co.. coherence, R, S, 2+2W, Z6 by the shape of their edges.
#include <gtest/gtest.h>
#include <explore/engine/explore.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/fence.hpp>

#include <cstdlib>
#include <functional>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace handoff;
using explore::Memory;
using explore::Thread;
using sync::fence;
using sync::order;

constexpr order rlx = order::relaxed;
constexpr order acq = order::acquire;
constexpr order rel = order::release;
constexpr order acq_rel = order::acq_rel;
constexpr order sc = order::seq_cst;

using Int = sync::atomic<int>;
using Outcomes = std::set<std::string>;
using Note = std::function<void(const std::vector<int>&)>;
using Program = std::function<void(const Note&)>;

struct Litmus {
  Litmus(std::string its_name, Program its_program, const Outcomes& all)  // in each mode
      : Litmus(std::move(its_name), std::move(its_program), all, all, all) {}
  Litmus(std::string its_name, Program its_program, Outcomes in_cpp, Outcomes in_x86,
         Outcomes in_order, Outcomes not_shown = {})
      : name(std::move(its_name)),
        program(std::move(its_program)),
        cpp(std::move(in_cpp)),
        x86(std::move(in_x86)),
        sequential(std::move(in_order)),
        gap(std::move(not_shown)) {}

  std::string name;
  Program program;
  Outcomes cpp;
  Outcomes x86;
  Outcomes sequential;
  Outcomes gap;
};

std::ostream& operator<<(std::ostream& out, const Litmus& litmus) { return out << litmus.name; }

// ---- Sets of outcomes --------------------------------------------------------------------------

Outcomes words(const std::string& text) {
  std::istringstream in(text);
  Outcomes all;
  for (std::string word; in >> word;) all.insert(word);
  return all;
}

// All words of `length` bits, but for some.
Outcomes bits_but(unsigned length, const std::string& excluded = "") {
  Outcomes all;
  const Outcomes left_out = words(excluded);
  for (unsigned bits = 0; bits < 1U << length; ++bits) {
    std::string word;
    for (unsigned i = length; i-- > 0;) word += (bits >> i & 1) != 0 ? '1' : '0';
    if (!left_out.contains(word)) all.insert(word);
  }
  return all;
}

Outcomes without(Outcomes from, const Outcomes& what) {
  for (const auto& word : what) from.erase(word);
  return from;
}

std::string text_of(const Outcomes& outcomes) {
  std::string text;
  for (const auto& word : outcomes) text += word + " ";
  return text;
}

bool is_deep() {
  const char* const deep = std::getenv("HANDOFF_TEST_DEEP");
  return deep != nullptr && std::string(deep) == "1";
}

// ---- Running -----------------------------------------------------------------------------------

struct Seen {
  Outcomes outcomes;
  explore::Result result;
};

Seen explore_litmus(const Program& program, Memory memory, unsigned deviations) {
  Seen seen;
  const Note note = [&](const std::vector<int>& values) {
    std::string word;
    for (const int value : values) word += static_cast<char>('0' + value);
    seen.outcomes.insert(word);
  };
  seen.result = explore::run({.memory = memory, .deviations = deviations}, [&] { program(note); });
  return seen;
}

// With three deviations, which show every outcome of the table, and with more as long as that is
// quick, which must not show others.
Seen explore_with_more(const Program& program, Memory memory) {
  const std::uint64_t quick = is_deep() ? 40'000 : 3000;
  Seen seen = explore_litmus(program, memory, 3);
  for (unsigned more = 4; more <= 6 && seen.result.executions < quick; ++more) {
    seen = explore_litmus(program, memory, more);
  }
  return seen;
}

// Runs the bodies as threads and joins them.
template <class... Bodies>
void together(Bodies... bodies) {
  const Thread threads[] = {Thread(std::move(bodies))...};
}

// The value of a variable once all threads are joined: its newest store.
int last(const Int& variable) { return variable.load(rlx); }

// ---- Programs that come in several orders ------------------------------------------------------

Program store_buffering(order store, order load, std::function<void()> first_fence = {},
                        std::function<void()> second_fence = {}) {
  return [=](const Note& note) {
    Int x(0), y(0);
    int a = 0, b = 0;
    together(
        [&] {
          x.store(1, store);
          if (first_fence) first_fence();
          a = y.load(load);
        },
        [&] {
          y.store(1, store);
          if (second_fence) second_fence();
          b = x.load(load);
        });
    note({a, b});
  };
}

// As above, but the store (or the load) is part of a read-modify-write.
Program store_buffering_by_exchange(order modify, order load) {
  return [=](const Note& note) {
    Int x(0), y(0);
    int a = 0, b = 0;
    together([&] { x.exchange(1, modify), a = y.load(load); },
             [&] { y.exchange(1, modify), b = x.load(load); });
    note({a, b});
  };
}

Program store_buffering_read_by_add(order store, order modify) {
  return [=](const Note& note) {
    Int x(0), y(0);
    int a = 0, b = 0;
    together([&] { x.store(1, store), a = y.fetch_add(0, modify); },
             [&] { y.store(1, store), b = x.fetch_add(0, modify); });
    note({a, b});
  };
}

// The load is an exchange that fails, whatever it finds.
Program store_buffering_read_by_failing(order store, order failure) {
  const auto read = [failure](Int& variable) {
    int found = 7;
    variable.compare_exchange_strong(found, 9, rlx, failure);
    return found;
  };
  return [=](const Note& note) {
    Int x(0), y(0);
    int a = 0, b = 0;
    together([&] { x.store(1, store), a = read(y); }, [&] { y.store(1, store), b = read(x); });
    note({a, b});
  };
}

using Step = std::function<void()>;
using Read = std::function<int(Int&)>;

Read load(order o) {
  return [o](Int& variable) { return variable.load(o); };
}
Step fences(order o) {
  return [o] { fence(o); };
}
const Step nothing = [] {};

// Writer: x = 1, `between`, y = 1. Reader: y, `then`, x.
Program message_passing(order store, const Read& read, const Step& between = nothing,
                        const Step& then = nothing) {
  return [=](const Note& note) {
    Int x(0), y(0);
    int a = 0, b = 0;
    together(
        [&] {
          x.store(1, rlx);
          between();
          y.store(1, store);
        },
        [&] {
          a = read(y);
          then();
          b = x.load(rlx);
        });
    note({a, b});
  };
}

Program load_buffering(order o_load, order o_store) {
  return [=](const Note& note) {
    Int x(0), y(0);
    int a = 0, b = 0;
    together([&] { a = x.load(o_load), y.store(1, o_store); },
             [&] { b = y.load(o_load), x.store(1, o_store); });
    note({a, b});
  };
}

Program independent_reads(order o_store, order o_load, const Step& between = nothing) {
  return [=](const Note& note) {
    Int x(0), y(0);
    int a = 0, b = 0, c = 0, d = 0;
    const auto read = [&](Int& first, Int& second, int& one, int& two) {
      one = first.load(o_load);
      between();
      two = second.load(o_load);
    };
    together([&] { x.store(1, o_store); }, [&] { y.store(1, o_store); }, [&] { read(x, y, a, b); },
             [&] { read(y, x, c, d); });
    note({a, b, c, d});
  };
}

Program write_to_read(order o_store, order o_load) {
  return [=](const Note& note) {
    Int x(0), y(0);
    int a = 0, b = 0, c = 0;
    together([&] { x.store(1, rlx); },
             [&] {
               a = x.load(rlx);
               if (a == 1) y.store(1, o_store);
             },
             [&] {
               b = y.load(o_load);
               c = x.load(rlx);
             });
    note({a, b, c});
  };
}

// A write that one thread has seen, and one that only its writer has: RWC.
Program read_to_write(order o_store, order o_load, const Step& between = nothing) {
  return [=](const Note& note) {
    Int x(0), y(0);
    int a = 0, b = 0, c = 0;
    together([&] { x.store(1, o_store); },
             [&] {
               a = x.load(o_load);
               between();
               b = y.load(o_load);
             },
             [&] {
               y.store(1, o_store);
               between();
               c = x.load(o_load);
             });
    note({a, b, c});
  };
}

// RWC with the first write passed on by a flag: what seq_cst fences gained in C++20.
Program write_read_write_to_read() {
  return [](const Note& note) {
    Int x(0), y(0), z(0);
    int a = 0, b = 0, c = 0;
    together([&] { x.store(1, rlx), y.store(1, rel); },
             [&] {
               a = y.load(acq);
               fence(sc);
               b = z.load(rlx);
             },
             [&] {
               z.store(1, rlx);
               fence(sc);
               c = x.load(rlx);
             });
    note({a, b, c});
  };
}

Program isa2(order o_store, order o_load) {
  return [=](const Note& note) {
    Int x(0), y(0), z(0);
    int a = 0, b = 0, c = 0;
    together([&] { x.store(1, rlx), y.store(1, rel); },
             [&] {
               a = y.load(o_load);
               if (a == 1) z.store(1, o_store);
             },
             [&] {
               b = z.load(acq);
               c = x.load(rlx);
             });
    note({a, b, c});
  };
}

Program two_plus_two(order o, const Step& between = nothing) {
  return [=](const Note& note) {
    Int x(0), y(0);
    together(
        [&] {
          x.store(1, o);
          between();
          y.store(2, o);
        },
        [&] {
          y.store(1, o);
          between();
          x.store(2, o);
        });
    note({last(x), last(y)});
  };
}

Program shape_r(order o) {
  return [=](const Note& note) {
    Int x(0), y(0);
    int a = 0;
    together([&] { x.store(1, o), y.store(1, o); }, [&] { y.store(2, o), a = x.load(o); });
    note({last(y), a});
  };
}

Program shape_s(order o_store, order o_load, const Step& between = nothing) {
  return [=](const Note& note) {
    Int x(0), y(0);
    int a = 0;
    together(
        [&] {
          x.store(2, rlx);
          between();
          y.store(1, o_store);
        },
        [&] {
          a = y.load(o_load);
          between();
          x.store(1, rlx);
        });
    note({a, last(x)});
  };
}

Program z6(order o_store, order o_load) {
  return [=](const Note& note) {
    Int x(0), y(0), z(0);
    int a = 0, b = 0;
    together([&] { x.store(1, o_store), y.store(1, o_store); },
             [&] { y.store(2, o_store), z.store(1, o_store); },
             [&] { a = z.load(o_load), b = x.load(o_load); });
    note({last(y), a, b});
  };
}

// The order of the seq_cst accesses need not agree with happens-before when that runs over a
// variable that others access less strictly.
void z6_u(const Note& note) {
  Int x(0), y(0);
  int a = 0, b = 0, c = 0;
  together([&] { x.store(1, sc), y.store(1, rel); },
           [&] { a = y.fetch_add(1, sc), b = y.load(rlx); },
           [&] { y.store(3, sc), c = x.load(sc); });
  note({a, b, c});
}

Program dekker(order o) {
  return [=](const Note& note) {
    Int wants[2] = {Int(0), Int(0)};
    int entered[2] = {};
    const auto enter = [&](int me) {
      wants[me].store(1, o == sc ? sc : rel);
      if (wants[1 - me].load(o == sc ? sc : acq) == 0) entered[me] = 1;
    };
    together([&] { enter(0); }, [&] { enter(1); });
    note({entered[0], entered[1]});
  };
}

Program peterson(order o_store, order o_load) {
  return [=](const Note& note) {
    Int wants[2] = {Int(0), Int(0)};
    Int turn(0);
    int entered[2] = {};
    const auto enter = [&](int me) {
      wants[me].store(1, o_store);
      turn.store(1 - me, o_store);
      entered[me] = wants[1 - me].load(o_load) == 0 || turn.load(o_load) == me;
    };
    together([&] { enter(0); }, [&] { enter(1); });
    note({entered[0], entered[1]});
  };
}

Program three_store_buffers(const Step& between) {
  return [=](const Note& note) {
    Int x[3] = {Int(0), Int(0), Int(0)};
    int seen[3] = {};
    const auto body = [&](int me) {
      x[me].store(1, rlx);
      between();
      seen[me] = x[(me + 1) % 3].load(rlx);
    };
    together([&] { body(0); }, [&] { body(1); }, [&] { body(2); });
    note({seen[0], seen[1], seen[2]});
  };
}

// ---- One variable ------------------------------------------------------------------------------

void co_rr(const Note& note) {
  Int x(0);
  int a = 0, b = 0;
  together([&] { x.store(1, rlx); }, [&] { a = x.load(rlx), b = x.load(rlx); });
  note({a, b});
}

// Two readers agree on the order of two writes.
void co_rr_twice(const Note& note) {
  Int x(0);
  int a = 0, b = 0, c = 0, d = 0;
  together([&] { x.store(1, rlx); }, [&] { x.store(2, rlx); },
           [&] { a = x.load(rlx), b = x.load(rlx); }, [&] { c = x.load(rlx), d = x.load(rlx); });
  note({a, b, c, d});
}
Outcomes co_rr_twice_allowed() {
  Outcomes all;
  for (const char* const modified : {"012", "021"}) {
    for (int word = 0; word < 81; ++word) {
      const int at[] = {word / 27, word / 9 % 3, word / 3 % 3, word % 3};
      if (at[0] > at[1] || at[2] > at[3]) continue;
      std::string outcome;
      for (const int i : at) outcome += modified[i];
      all.insert(outcome);
    }
  }
  return all;
}

void co_wr(const Note& note) {
  Int x(0);
  int a = 0;
  together([&] { x.store(1, rlx), a = x.load(rlx); }, [&] { x.store(2, rlx); });
  note({a, last(x)});
}

void co_rw(const Note& note) {
  Int x(0);
  int a = 0;
  together([&] { a = x.load(rlx), x.store(1, rlx); }, [&] { x.store(2, rlx); });
  note({a, last(x)});
}

void co_ww(const Note& note) {
  Int x(0);
  int a = 0, b = 0;
  together([&] { x.store(1, rlx), x.store(2, rlx); }, [&] { a = x.load(rlx), b = x.load(rlx); });
  note({a, b, last(x)});
}

void add_is_atomic(const Note& note) {
  Int x(0);
  int a = 0, b = 0;
  together([&] { a = x.fetch_add(1, rlx); }, [&] { b = x.fetch_add(1, rlx); });
  note({a, b, last(x)});
}

void exchanges_form_a_chain(const Note& note) {
  Int x(0);
  int a = 0, b = 0;
  together([&] { a = x.exchange(1, rlx); }, [&] { b = x.exchange(2, rlx); });
  note({a, b, last(x)});
}

void one_exchange_wins(const Note& note) {
  Int x(0);
  bool a = false, b = false;
  const auto claim = [&](bool& won) {
    int expected = 0;
    won = x.compare_exchange_strong(expected, 1, rlx, rlx);
  };
  together([&] { claim(a); }, [&] { claim(b); });
  note({a, b});
}

void add_reads_the_newest(const Note& note) {
  Int x(0);
  int a = 0, b = 0;
  together([&] { x.store(1, rlx); }, [&] { a = x.load(rlx), b = x.fetch_add(0, rlx); });
  note({a, b});
}

void weak_may_fail(const Note& note) {
  Int x(0);
  int expected = 0;
  const bool done = x.compare_exchange_weak(expected, 1, rlx, rlx);
  note({done, expected, last(x)});
}

void strong_does_not_fail(const Note& note) {
  Int x(0);
  int expected = 0;
  const bool done = x.compare_exchange_strong(expected, 1, rlx, rlx);
  note({done, expected, last(x)});
}

// Message passing, whose second read is an exchange that may fail.
Program read_by_exchange(bool weak, int expected_value) {
  return [=](const Note& note) {
    Int x(0), y(0);
    int a = 0;
    bool done = false;
    int found = expected_value;
    together([&] { x.store(1, rlx), y.store(1, rlx); },
             [&] {
               a = y.load(rlx);
               done = weak ? x.compare_exchange_weak(found, 5, rlx, rlx)
                           : x.compare_exchange_strong(found, 5, rlx, rlx);
             });
    note({a, done, found});
  };
}

// ---- Release sequences: d is the message, x the flag -------------------------------------------

Program release_sequence(const std::function<void(Int&)>& releaser,
                         const std::function<void(Int&)>& other) {
  return [=](const Note& note) {
    Int d(0), x(0);
    int a = 0, b = 0;
    together([&] { d.store(1, rlx), releaser(x); }, [&] { other(x); },
             [&] { a = x.load(acq), b = d.load(rlx); });
    note({a, b});
  };
}
void release_one(Int& x) { x.store(1, rel); }
void release_then_plain(Int& x) { x.store(1, rel), x.store(2, rlx); }
void fence_then_add(Int& x) { fence(rel), x.fetch_add(1, rlx); }
void no_store(Int&) {}
void add_two(Int& x) { x.fetch_add(2, rlx); }
void store_two_after_one(Int& x) {
  if (x.load(rlx) == 1) x.store(2, rlx);
}

// What a thread did before is seen by those it starts, and what they did once they are joined.
void start_and_join(const Note& note) {
  Int x(0), y(0);
  int a = 0;
  x.store(1, rlx);
  together([&] { a = x.load(rlx), y.store(2, rlx); });
  note({a, y.load(rlx)});
}

void branch_on_message(const Note& note) {
  Int x(0), y(0);
  int a = 0, b = 0;
  together([&] { x.store(1, rlx), y.store(1, rel); },
           [&] {
             a = y.load(rlx);
             if (a == 1) b = x.load(rlx);
           });
  note({a, b});
}

// ---- The table ---------------------------------------------------------------------------------

const Outcomes all2 = bits_but(2);
const Outcomes sb = words("01 10 11");  // somebody saw the other
const Outcomes mp = words("00 01 11");  // no flag without its message
const Outcomes all3 = bits_but(3);
const Outcomes causal3 = bits_but(3, "110");
const Outcomes all4 = bits_but(4);
const Outcomes agree4 = bits_but(4, "1010");

void add_store_buffering(std::vector<Litmus>& table) {
  const auto light = [] { sync::asymmetric_fence_light(); };
  const auto heavy = [] { sync::asymmetric_fence_heavy(); };
  table.insert(
      table.end(),
      {
          {"SB_relaxed", store_buffering(rlx, rlx), all2, all2, sb},
          {"SB_release_acquire", store_buffering(rel, acq), all2, all2, sb},
          {"SB_sc", store_buffering(sc, sc), sb},
          {"SB_sc_stores", store_buffering(sc, rlx), all2, sb, sb},
          {"SB_sc_loads", store_buffering(rlx, sc), all2, all2, sb},
          {"SB_sc_fences", store_buffering(rlx, rlx, fences(sc), fences(sc)), sb},
          {"SB_one_sc_fence", store_buffering(rlx, rlx, fences(sc)), all2, all2, sb},
          {"SB_acq_rel_fences", store_buffering(rlx, rlx, fences(acq_rel), fences(acq_rel)), all2,
           all2, sb},
          {"SB_sc_accesses_and_fence", store_buffering(sc, sc, fences(sc)), sb},
          {"SB_exchange_acq_rel", store_buffering_by_exchange(acq_rel, acq), all2, sb, sb},
          {"SB_exchange_sc", store_buffering_by_exchange(sc, sc), sb},
          // Both adds come before the other thread's store in modification order.
          {"SB_read_by_add", store_buffering_read_by_add(rel, acq_rel), all2, sb, sb, words("00")},
          {"SB_read_by_failing_relaxed", store_buffering_read_by_failing(sc, rlx), all2, sb, sb},
          {"SB_read_by_failing_sc", store_buffering_read_by_failing(sc, sc), sb},
          {"SB_asymmetric", store_buffering(rlx, rlx, light, heavy), sb},
          {"SB_asymmetric_light_only", store_buffering(rlx, rlx, light, light), all2, all2, sb},
          {"SB_asymmetric_heavy_both", store_buffering(rlx, rlx, heavy, heavy), sb},
          {"SB_three_relaxed", three_store_buffers(nothing), all3, all3, bits_but(3, "000")},
          {"SB_three_sc_fences", three_store_buffers(fences(sc)), bits_but(3, "000")},
          {"Dekker_sc", dekker(sc), words("00 01 10")},
          {"Dekker_release_acquire", dekker(acq_rel), all2, all2, words("00 01 10")},
          {"Peterson_sc", peterson(sc, sc), words("00 01 10")},
          {"Peterson_release_acquire", peterson(rel, acq), all2, all2, words("00 01 10")},
      });
}

void add_message_passing(std::vector<Litmus>& table) {
  const auto add = [](order o) { return [o](Int& variable) { return variable.fetch_add(0, o); }; };
  table.insert(
      table.end(),
      {
          {"MP_relaxed", message_passing(rlx, load(rlx)), all2, mp, mp},
          {"MP_release_relaxed", message_passing(rel, load(rlx)), all2, mp, mp},
          {"MP_relaxed_acquire", message_passing(rlx, load(acq)), all2, mp, mp},
          {"MP_release_acquire", message_passing(rel, load(acq)), mp},
          {"MP_sc_relaxed", message_passing(sc, load(rlx)), all2, mp, mp},
          {"MP_relaxed_sc", message_passing(rlx, load(sc)), all2, mp, mp},
          {"MP_sc_sc", message_passing(sc, load(sc)), mp},
          {"MP_release_sc", message_passing(rel, load(sc)), mp},
          {"MP_read_by_acquiring_add", message_passing(rel, add(acq)), mp},
          {"MP_read_by_relaxed_add", message_passing(rel, add(rlx)), all2, mp, mp},
          {"MP_fences", message_passing(rlx, load(rlx), fences(rel), fences(acq)), mp},
          {"MP_sc_fences", message_passing(rlx, load(rlx), fences(sc), fences(sc)), mp},
          {"MP_release_fence_acquire", message_passing(rlx, load(acq), fences(rel)), mp},
          {"MP_release_acquire_fence", message_passing(rel, load(rlx), nothing, fences(acq)), mp},
          {"MP_release_fence_only", message_passing(rlx, load(rlx), fences(rel)), all2, mp, mp},
          {"MP_acquire_fence_only", message_passing(rlx, load(rlx), nothing, fences(acq)), all2, mp,
           mp},
          {"MP_fences_exchanged", message_passing(rlx, load(rlx), fences(acq), fences(rel)), all2,
           mp, mp},
          {"MP_branch", branch_on_message, words("00 10 11"), words("00 11"), words("00 11")},
          // RC11 has no cycles of program order and reads-from: no 11. The standard only
          // discourages them, so this is a gap to the standard and none to RC11.
          {"LB_relaxed", load_buffering(rlx, rlx), words("00 01 10")},
          {"LB_acquire_release", load_buffering(acq, rel), words("00 01 10")},
          {"start_and_join", start_and_join, words("12")},
      });
}

void add_causality(std::vector<Litmus>& table) {
  table.insert(table.end(),
               {
                   {"IRIW_relaxed", independent_reads(rlx, rlx), all4, agree4, agree4},
                   {"IRIW_release_acquire", independent_reads(rel, acq), all4, agree4, agree4},
                   {"IRIW_sc", independent_reads(sc, sc), agree4},
                   {"IRIW_sc_fences", independent_reads(rlx, rlx, fences(sc)), agree4},
                   // RC11 wants the writes to be seq_cst too. The text of C++20 does not.
                   {"IRIW_sc_loads_only", independent_reads(rlx, sc), all4, agree4, agree4},
                   // Without 01. the second thread wrote nothing.
                   {"WRC_relaxed", write_to_read(rlx, rlx), words("000 001 100 101 110 111"),
                    words("000 001 100 101 111"), words("000 001 100 101 111")},
                   // The relaxed read of x in the middle is enough: read-read coherence.
                   {"WRC_release_acquire", write_to_read(rel, acq), words("000 001 100 101 111")},
                   {"RWC_release_acquire", read_to_write(rel, acq), all3, all3, bits_but(3, "100")},
                   {"RWC_sc", read_to_write(sc, sc), bits_but(3, "100")},
                   {"RWC_sc_fences", read_to_write(rlx, rlx, fences(sc)), bits_but(3, "100")},
                   {"W_RWC_sc_fences", write_read_write_to_read(), bits_but(3, "100")},
                   {"ISA2_release_acquire", isa2(rel, acq), words("000 001 100 101 111")},
                   {"ISA2_relaxed_in_the_middle", isa2(rlx, rlx), words("000 001 100 101 110 111"),
                    words("000 001 100 101 111"), words("000 001 100 101 111")},
               });
}

void add_write_orders(std::vector<Litmus>& table) {
  const Outcomes w22 = words("12 21 22");
  const Outcomes r = words("10 11 20 21");
  const Outcomes r_sc = words("10 11 21");
  const Outcomes s = words("01 02 11");
  const Outcomes z6_u_sc = words("010 011 030 031 120 121 131 310 311 340 341");
  table.insert(table.end(),
               {
                   {"2_2W_relaxed", two_plus_two(rlx), words("11 12 21 22"), w22, w22, words("11")},
                   {"2_2W_release", two_plus_two(rel), words("11 12 21 22"), w22, w22, words("11")},
                   {"2_2W_sc", two_plus_two(sc), w22},
                   {"2_2W_sc_fences", two_plus_two(rlx, fences(sc)), w22},
                   {"R_relaxed", shape_r(rlx), r, r, r_sc},
                   {"R_sc", shape_r(sc), r_sc},
                   {"S_relaxed", shape_s(rlx, rlx), words("01 02 11 12"), s, s, words("12")},
                   {"S_release_acquire", shape_s(rel, acq), s},
                   {"S_sc_fences", shape_s(rlx, rlx, fences(sc)), s},
                   {"Z6_relaxed", z6(rlx, rlx), words("100 101 110 111 200 201 210 211"),
                    words("100 101 110 111 200 201 211"), words("100 101 110 111 200 201 211")},
                   {"Z6_sc", z6(sc, sc), words("100 101 110 111 200 201 211")},
                   // The seq_cst order of 130 goes from the third thread to the first, against
                   // happens-before over y: the explorer's follows the execution.
                   {"Z6U", z6_u, words("010 011 030 031 120 121 130 131 310 311 340 341"), z6_u_sc,
                    z6_u_sc, words("130")},
               });
}

void add_coherence(std::vector<Litmus>& table) {
  const Outcomes co_rr_2 = co_rr_twice_allowed();
  const Outcomes co_ww_1 = words("002 012 022 112 122 222");
  const Outcomes sequence = words("00 01 11 20 21 31");
  const Outcomes plain = words("00 01 11 21");
  table.insert(
      table.end(),
      {
          {"CoRR", co_rr, mp},
          {"CoRR_twice", co_rr_twice, co_rr_2},
          {"CoWR", co_wr, words("11 12 22")},
          {"CoRW", co_rw, words("01 02 21")},
          {"CoWW", co_ww, co_ww_1},
          {"add_is_atomic", add_is_atomic, words("012 102")},
          {"exchanges_form_a_chain", exchanges_form_a_chain, words("012 201")},
          {"one_exchange_wins", one_exchange_wins, words("01 10")},
          {"add_reads_the_newest", add_reads_the_newest, mp},
          {"weak_may_fail", weak_may_fail, words("101 000"), words("101"), words("101 000")},
          {"strong_does_not_fail", strong_does_not_fail, words("101")},
          // A failing exchange is a load, and may be a stale one.
          {"failing_strong_is_a_load", read_by_exchange(false, 7), words("000 001 100 101"),
           words("000 001 101"), words("000 001 101")},
          // 010 acted on 0; 110 as well, with x = 1 later in modification order than its own store.
          {"strong_fails_only_on_another_value", read_by_exchange(false, 0),
           words("001 010 101 110"), words("001 010 101"), words("001 010 101"), words("110")},
          {"weak_may_read_an_old_value_and_fail", read_by_exchange(true, 0),
           words("000 001 010 100 101 110"), words("001 010 101"), words("000 001 010 101"),
           words("110")},
          {"release_sequence_through_foreign_add", release_sequence(release_one, add_two),
           sequence},
          {"release_fence_before_add", release_sequence(fence_then_add, no_store),
           words("00 01 11")},
          {"release_sequence_broken_by_own_store", release_sequence(release_then_plain, no_store),
           words("00 01 11 20 21"), plain, plain},
          {"release_sequence_broken_by_foreign_store",
           release_sequence(release_one, store_two_after_one), words("00 01 11 20 21"), plain,
           plain},
      });
}

std::vector<Litmus> litmus_table() {
  std::vector<Litmus> table;
  add_store_buffering(table);
  add_message_passing(table);
  add_causality(table);
  add_write_orders(table);
  add_coherence(table);
  return table;
}

class LitmusTest : public testing::TestWithParam<Litmus> {};

TEST_P(LitmusTest, shows_exactly_what_is_allowed) {
  const Litmus& litmus = GetParam();
  struct Mode {
    Memory memory;
    const char* name;
    Outcomes expected;
  };
  const Mode modes[] = {{Memory::cpp, "cpp", without(litmus.cpp, litmus.gap)},
                        {Memory::x86, "x86", litmus.x86},
                        {Memory::sequential, "sequential", litmus.sequential}};
  for (const Mode& mode : modes) {
    const Seen seen = explore_with_more(litmus.program, mode.memory);
    EXPECT_TRUE(seen.result.ok()) << mode.name << ": " << seen.result.report();
    EXPECT_EQ(text_of(seen.outcomes), text_of(mode.expected)) << mode.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, LitmusTest, testing::ValuesIn(litmus_table()),
                         [](const auto& row) { return row.param.name; });

// The tables are themselves consistent: a stronger model allows no more, and a gap is something
// that RC11 allows.
TEST(LitmusTable, stronger_models_allow_less) {
  const auto contains = [](const Outcomes& all, const Outcomes& some) {
    return without(some, all).empty();
  };
  const auto table = litmus_table();
  EXPECT_GE(table.size(), 30U);
  for (const Litmus& litmus : table) {
    EXPECT_TRUE(contains(litmus.cpp, litmus.x86)) << litmus.name;
    EXPECT_TRUE(contains(litmus.cpp, litmus.gap)) << litmus.name;
    EXPECT_TRUE(litmus.name == "weak_may_read_an_old_value_and_fail" ||
                litmus.name == "weak_may_fail" || contains(litmus.x86, litmus.sequential))
        << litmus.name;
  }
}

// The canary: a bound that is too low loses outcomes, and the comparison notices.
TEST(LitmusTable, too_few_deviations_are_noticed) {
  const Seen seen = explore_litmus(store_buffering(rlx, rlx), Memory::cpp, 0);
  EXPECT_NE(text_of(seen.outcomes), text_of(all2));
}

}  // namespace
