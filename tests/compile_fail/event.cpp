// SPDX-License-Identifier: MIT
//
// What listeners may not be, and what a box does not hold.

#include <string>

#include <handoff/core/status.hpp>
#include <handoff/core/unique_function.hpp>
#include <handoff/event/any_data.hpp>
#include <handoff/event/callback_list.hpp>

int main() {
  handoff::AnyData<> data(1);
  handoff::CallbackList<void()> list;
  struct HasNoWidth {
    handoff::Status execute(handoff::UniqueFunction<void()>) { return handoff::Status::ok; }
  } no_executor;

#if defined(WRONG_rvalue_reference)  // expect: none of them may be moved from
  handoff::CallbackList<void(std::string&&)> moved_from;
#endif
#if defined(WRONG_executor)  // expect: Executor
  list.append_on(no_executor, [] {});
#endif
#if defined(WRONG_copied_data)  // expect: deleted
  handoff::AnyData<> copy = data;
#endif
#if defined(WRONG_reference_in_data)  // expect: values, not references
  int number = 0;
  data.emplace<int&>(number);
#endif
}
