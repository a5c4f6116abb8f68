// SPDX-License-Identifier: MIT
//
// Model-based tests: random programs of operations, run by a structure and by something plain that
// says what must come out (a vector, a map), with failures injected. A program for which the two
// disagree is made as short as it can be.
//
//   class Stack : public Model {
//    public:
//     void step(const Step& step) override {
//       switch (step.what) {
//         case 0: real_.push(step.a); plain_.push_back(step.a); break;
//         case 1: agree(real_.pop() == plain_.back(), "the newest first"); ...
//
//   check_model<Stack>({{"push", 3}, {"pop", 2}});
//
// The programs come from rapidcheck, by the seed of the run (support/support.hpp); a deep run takes
// ten times as many.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "books/books.hpp"
#include "support/failing.hpp"

namespace handoff::test {

// An operation that programs consist of; those with a larger weight come more often.
struct Word {
  const char* name;
  unsigned weight = 1;
};

// What to do, by its place among the words; two numbers for it to use, and which of its allocations
// fails.
struct Step {
  static constexpr unsigned kNumbers = 16;
  static constexpr unsigned kFailures = 4;

  unsigned what = 0;
  unsigned a = 0;      // below kNumbers
  unsigned b = 0;      // below kNumbers
  unsigned fails = 0;  // below kFailures; 0: none
};

// Thrown where the structure and what it is compared with disagree.
struct Disagreement : std::logic_error {
  using std::logic_error::logic_error;
};

inline void agree(bool condition, const char* what) {
  if (!condition) throw Disagreement(what);
}

template <class A, class B>
void agree_on(const char* what, const A& is, const B& should_be) {
  if (is == should_be) return;
  throw Disagreement(std::string(what) + " is " + std::to_string(is) + ", should be " +
                     std::to_string(should_be));
}

// The structure is whole.
template <class Structure>
void agree_with_book(Structure& structure) {
  if (const std::string fault = fault_in(structure); !fault.empty()) throw Disagreement(fault);
}

// One life of a structure beside its reference. Both begin empty.
class Model {
 public:
  Model() = default;
  virtual ~Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  virtual void step(const Step& step) = 0;
  // After the last step.
  virtual void end() {}
};

// operation(), with the step's allocation failing; false if it threw std::bad_alloc.
template <class F>
bool has_memory_for(const Step& step, F&& operation) {
  struct Failing {
    explicit Failing(unsigned which) {
      if (which != 0) fail_after(Call::allocation, static_cast<int>(which) - 1, ENOMEM);
    }
    ~Failing() { (void)stop_failing(Call::allocation); }
  };
  try {
    const Failing failing(step.fails);
    operation();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// What random programs showed.
struct Finding {
  std::string disagreement;     // empty: none
  std::vector<Step> program;    // the shortest that shows it
  std::string text;             // both, for a person
};

using MakeModel = std::function<std::unique_ptr<Model>()>;
Finding search_model(const std::vector<Word>& words, const MakeModel& make, std::size_t programs);

// Fails the test with the shortest program for which model and structure disagree.
void check_model(const std::vector<Word>& words, const MakeModel& make, std::size_t programs);

template <class M>
void check_model(const std::vector<Word>& words, std::size_t programs = 2000) {
  check_model(words, [] { return std::make_unique<M>(); }, programs);
}

// A canary: fails the test unless a disagreement is found, and shown by that few steps.
void expect_found(const std::vector<Word>& words, const MakeModel& make, std::size_t steps_most);

template <class M>
void expect_found(const std::vector<Word>& words, std::size_t steps_most) {
  expect_found(words, [] { return std::make_unique<M>(); }, steps_most);
}

}  // namespace handoff::test
