// SPDX-License-Identifier: MIT
//
// The lists of models, and programs in words.
#include "model/model.hpp"

#include <sstream>

namespace handoff::test {

// Functions' own variables, so that they are there before the first model registers itself.
std::vector<const ModelTest*>& model_tests() {
  static std::vector<const ModelTest*> all;
  return all;
}

std::vector<const ModelCanary*>& model_canaries() {
  static std::vector<const ModelCanary*> all;
  return all;
}

std::string text_of(const std::vector<Word>& words, const Program& program) {
  std::ostringstream text;
  for (const Step& step : program) {
    text << "\n  " << words[step.what].name << "(" << step.a << ", " << step.b << ")";
    if (step.fails != 0) text << ", its allocation " << step.fails << " fails";
  }
  return text.str();
}

ModelTest::ModelTest(std::string its_name, ModelOf its_model, std::size_t its_programs)
    : name(std::move(its_name)), model(std::move(its_model)), programs(its_programs) {
  model_tests().push_back(this);
}

ModelCanary::ModelCanary(std::string its_name, ModelOf its_model, std::size_t its_steps_most)
    : name(std::move(its_name)), model(std::move(its_model)), steps_most(its_steps_most) {
  model_canaries().push_back(this);
}

}  // namespace handoff::test
