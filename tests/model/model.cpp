// SPDX-License-Identifier: MIT
//
// The lists of models.
#include "model/model.hpp"

#include <utility>

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

ModelTest::ModelTest(std::string its_name, ModelOf its_model, std::size_t its_programs)
    : name(std::move(its_name)), model(std::move(its_model)), programs(its_programs) {
  model_tests().push_back(this);
}

ModelCanary::ModelCanary(std::string its_name, ModelOf its_model, std::size_t its_steps_most)
    : name(std::move(its_name)), model(std::move(its_model)), steps_most(its_steps_most) {
  model_canaries().push_back(this);
}

}  // namespace handoff::test
