// SPDX-License-Identifier: MIT
//
// The tables of docs/guide/contract.md, made anew by calls of the library: each cell is what a call
// did, in the page's words. A file a tier makes its rows; contract_page_test.cpp compares.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <handoff/core/misuse.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>

#include "support/failing.hpp"

namespace handoff::test {

// A row: the type, then what its calls did, in the order of its table's columns.
using ContractRow = std::vector<std::string>;

struct ContractTable {
  std::string tier;
  ContractRow columns;
  std::vector<ContractRow> rows;
};

// One a tier, each in a file of its own.
ContractTable transfer_table();
ContractTable deferred_table();
ContractTable executor_table();
ContractTable bulk_table();
// Where an exception goes, of all tiers.
ContractTable unheard_table();

// ---- What a call did, in words ----

inline std::string said(Status status) { return '`' + std::string(to_string(status)) + '`'; }

// "returns `closed`", or what it throws.
template <class Call>
std::string outcome(Call&& call) {
  try {
    if constexpr (std::is_same_v<decltype(call()), Status>) {
      return "returns " + said(call());
    } else {
      call();
      return "done";
    }
  } catch (const NotRun& refusal) {
    return "throws `NotRun` (" + said(refusal.status()) + ')';
  } catch (const Misuse&) {
    return "misuse";
  } catch (const std::length_error&) {
    return "throws `std::length_error`";
  } catch (const std::exception& other) {
    return other.what();
  }
}

// Two things: once where they are the same.
inline std::string both(const std::string& first, const std::string& second) {
  return first == second ? first : first + "; " + second;
}

// "0 is misuse; 3 holds 4": what a type makes of these capacities. `hold(n)` makes one of capacity
// n and says how many items it took.
template <class Hold>
std::string capacities(const Hold& hold) {
  return "0 is " + outcome([&] { (void)hold(0); }) + "; 3 holds " + std::to_string(hold(3));
}

// "nothing", or how many blocks a call allocates once its memory has grown to what is needed: now
// and then a thread of a pool fetches some for many calls.
template <class Operate>
std::string allocations(const Operate& operate) {
  constexpr std::size_t times = 100;
  const auto repeat = [&] {
    for (std::size_t i = 0; i < times; ++i) operate();
  };
  repeat();
  const std::size_t before = calls(Call::allocation);
  repeat();
  const std::size_t blocks = (calls(Call::allocation) - before + times / 2) / times;
  return blocks == 0 ? "nothing" : std::to_string(blocks) + " blocks";
}

// Whether a forked child that calls `child` ends by itself, and child() was true. The child leaves
// without the ends of static objects.
template <class Child>
bool child_ends(const Child& child) {
  constexpr unsigned patience_s = 20;
  const pid_t id = ::fork();
  if (id == 0) {
    ::alarm(patience_s);
    ::_exit(child() ? 0 : 1);
  }
  int status = 0;
  if (id < 0 || ::waitpid(id, &status, 0) != id) throw std::runtime_error("no child");
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// What the end of an object does in a forked child, which has no threads of it.
template <class T>
std::string end_in_a_child(std::unique_ptr<T> object) {
  const bool ended = child_ends([&] {
    object.reset();
    return true;
  });
  return ended ? "its destructor does nothing" : "leave by `_exit()`";
}

// An item whose copies throw where it is told so.
struct Copied {
  explicit Copied(int its_number) : number(its_number) {}
  Copied(const Copied& other) : number(other.number), throws(other.throws) {
    if (throws) throw std::runtime_error("a copy");
  }
  Copied(Copied&&) noexcept = default;
  Copied& operator=(const Copied&) = default;
  Copied& operator=(Copied&&) noexcept = default;
  ~Copied() = default;

  int number;
  bool throws = false;
};

// Which thread calls: "the caller" of what is under way, or another one.
class Caller {
 public:
  void here() { ran_on_ = std::this_thread::get_id(); }
  [[nodiscard]] bool is_caller() const { return ran_on_ == caller_; }

 private:
  std::thread::id caller_ = std::this_thread::get_id();
  std::thread::id ran_on_;
};

}  // namespace handoff::test
