// SPDX-License-Identifier: MIT
//
// Lists of an argument by value whose class is not complete yet, as in the base of that class.
// incomplete_early.cpp looks at them before it is, incomplete_test.cpp after, and both must see the
// same.
#pragma once

#include <eventpp/callbacklist.h>
#include <eventpp/eventdispatcher.h>

#include <cstddef>
#include <memory>

namespace handoff::test {

struct LateValue;
using LateList = eventpp::CallbackList<void(LateValue)>;
using LateDispatcher = eventpp::EventDispatcher<int, void(LateValue)>;

#if defined(HANDOFF_TEST_LOOKS_EARLY)
static_assert(sizeof(LateList) > 0 && sizeof(LateDispatcher) > 0);
#endif

struct LateValue {
  int number = 0;
};
struct LateLists {
  LateList list;
  LateDispatcher dispatcher;
  int behind = 42;
};

std::unique_ptr<LateLists> make_late_lists();
std::size_t early_size() noexcept;

}  // namespace handoff::test
