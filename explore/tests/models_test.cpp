// SPDX-License-Identifier: MIT
//
// A model that disagrees ends its scenario where it finds that out, even in a callback whose
// exceptions the structure keeps.
#include <gtest/gtest.h>

#include "explore/scenario.hpp"
#include "model/model.hpp"

namespace handoff::test { namespace {

// A structure that calls back for as long as the callback throws.
class Keeps : public Model {
 public:
  void step(const Step& /*step*/) override {
    for (bool thrown = true; thrown;) {
      thrown = false;
      try {
        agree(false, "as asked");
      } catch (...) {
        thrown = true;
      }
    }
  }
};

const ModelTest keeps("keeps", model<Keeps>({{"calls back"}}));

TEST(Models, ADisagreementEndsTheScenarioWhereItIsFound) {
  add_models();
  ASSERT_EQ(scenarios().size(), 1U);
  const explore::Result result = explore_scenario(*scenarios().front(), {.deviations = 1});
  EXPECT_EQ(result.fault, explore::Fault::assertion) << result.report();
  EXPECT_NE(result.message.find("as asked\n  calls back("), std::string::npos) << result.message;
}

}}  // namespace handoff::test
