// SPDX-License-Identifier: MIT
//
// The models of tests/model under the explorer: programs that are always the same, each with every
// allocation failing, one at a time, that may fail in it. So what they do to plain data is seen as
// well, and what a failure leaves behind.
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <system_error>
#include <vector>

#include "explore/scenario.hpp"
#include "model/model.hpp"

namespace handoff::test {
namespace {

constexpr unsigned kPrograms = 32;
constexpr unsigned kSteps = 40;

std::optional<explore::MayFail>& memory_that_fails() {
  static std::optional<explore::MayFail> memory;
  return memory;
}

// The distribution is written out: the standard's differ between libraries.
Program program_of(const std::vector<Word>& words, unsigned seed) {
  std::mt19937_64 random(seed);
  const auto below = [&random](unsigned count) { return static_cast<unsigned>(random() % count); };
  unsigned sum = 0;
  for (const Word& word : words) sum += word.weight;
  Program program(kSteps);
  for (Step& step : program) {
    unsigned drawn = below(sum);
    while (drawn >= words[step.what].weight) drawn -= words[step.what++].weight;
    step.a = below(Step::kNumbers);
    step.b = below(Step::kNumbers);
    step.fails = below(4) == 0 ? 1 : 0;  // which one is the explorer's to choose
  }
  return program;
}

// The program that runs, and how many of its steps have begun: what disagree() tells.
struct Running {
  const ModelOf* model;
  Program* program;
  std::size_t* begun;
} running;

void explore_model(const ModelOf& model) {
  Program program = program_of(model.words, explore::any_of(kPrograms));
  std::size_t begun = 0;
  running = {&model, &program, &begun};
  std::unique_ptr<Model> life;
  try {
    life = model.make();
  } catch (const std::system_error&) {
    return;  // the explorer has refused the thread that it begins with
  }
  run_program(*life, program, begun);
  life.reset();
}

}  // namespace

// Not thrown: a structure that keeps exceptions might go on for ever.
void disagree(const std::string& what) {
  running.program->resize(*running.begun);
  explore::check(false, (what + text_of(running.model->words, *running.program)).c_str());
  std::abort();  // a failed check ends the execution
}

FailingMemory::FailingMemory(const Step& step) {
  if (step.fails != 0) memory_that_fails().emplace();
}
FailingMemory::~FailingMemory() { stop(); }
void FailingMemory::stop() noexcept { memory_that_fails().reset(); }

void add_models() {
  static std::vector<std::unique_ptr<const Scenario>> scenarios;
  for (const ModelTest* const test : model_tests()) {
    scenarios.push_back(std::make_unique<Scenario>(
        "model/" + test->name, [test] { explore_model(test->model); }, Size::program, 0, 1));
  }
}

}  // namespace handoff::test
