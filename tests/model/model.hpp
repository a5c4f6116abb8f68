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
//   const ModelTest stack("stack", model<Stack>({{"push", 3}, {"pop", 2}}));
//
// Two programs run them. model_tests: programs from rapidcheck, by the seed of the run
// (support/support.hpp); a deep run takes ten times as many. The explorer: fewer programs, always
// the same, but in each of them every allocation that may fail does (explore/models.cpp).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "books/books.hpp"

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
  unsigned a = 0;  // below kNumbers
  unsigned b = 0;  // below kNumbers
  unsigned fails = 0;  // below kFailures; 0: none
};

// The structure and what it is compared with disagree: this program of steps has failed. Each of
// the two programs has its own. A step may find it in a callback whose exceptions the structure
// keeps: the explorer ends the execution on the spot, model_tests throw and remember it.
[[noreturn]] void disagree(const std::string& what);

inline void agree(bool condition, const char* what) {
  if (!condition) disagree(what);
}

template <class T>
std::string in_words(const T& value) {
  if constexpr (std::is_enum_v<T>) return std::to_string(static_cast<int>(value));
  else return std::to_string(value);
}

template <class A, class B>
void agree_on(const char* what, const A& is, const B& should_be) {
  if (is == should_be) return;
  disagree(std::string(what) + " is " + in_words(is) + ", should be " + in_words(should_be));
}

// The structure is whole.
template <class Structure>
void agree_with_book(Structure& structure) {
  if (const std::string fault = fault_in(structure); !fault.empty()) disagree(fault);
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

// While it lives, memory fails as a step says.
class FailingMemory {
 public:
  explicit FailingMemory(const Step& step);
  ~FailingMemory();
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;
  static void stop() noexcept;  // before its end: for allocations of a model itself
};

// operation(), with the step's allocation failing; false if it threw std::bad_alloc.
template <class F>
bool has_memory_for(const Step& step, F&& operation) {
  try {
    const FailingMemory failing(step);
    operation();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

using MakeModel = std::function<std::unique_ptr<Model>()>;

// What a model can do, and how it begins.
struct ModelOf {
  std::vector<Word> words;
  MakeModel make;
};

template <class M>
ModelOf model(const std::vector<Word>& words) {
  return {words, [] { return std::make_unique<M>(); }};
}

using Program = std::vector<Step>;

// Throws what comes out of a step; `begun` steps have begun by then.
inline void run_program(Model& life, const Program& program, std::size_t& begun) {
  while (begun < program.size()) life.step(program[begun++]);
  life.end();
}

// A line a step, for a person.
std::string text_of(const std::vector<Word>& words, const Program& program);

// Registers itself.
struct ModelTest {
  explicit ModelTest(std::string its_name, ModelOf its_model, std::size_t its_programs = 2000);

  std::string name;
  ModelOf model;
  std::size_t programs;  // of model_tests
};

// A structure with a fault planted, which must be found, and shown by that few steps.
struct ModelCanary {
  explicit ModelCanary(std::string its_name, ModelOf its_model, std::size_t its_steps_most);

  std::string name;
  ModelOf model;
  std::size_t steps_most;
};

// All that are linked in.
std::vector<const ModelTest*>& model_tests();
std::vector<const ModelCanary*>& model_canaries();

}  // namespace handoff::test
