// SPDX-License-Identifier: MIT
//
// What listeners may not be, and which of several signatures is not chosen silently.

#include <string>

#include <handoff/event/any_data.hpp>
#include <handoff/event/callback_list.hpp>
#include <handoff/event/heter_callback_list.hpp>

int main() {
  handoff::HeterCallbackList<handoff::Signatures<void(int), void(double)>> list;
  list.append<void(int)>([](int) {});
  list(1);
  handoff::AnyData<> data(1);

#if defined(WRONG_rvalue_reference)  // expect: none of them may be moved from
  handoff::CallbackList<void(std::string&&)> moved_from;
#endif
#if defined(WRONG_listener_of_two_signatures)  // expect: by several of the signatures
  list.append([](int) {});
#endif
#if defined(WRONG_listener_of_no_signature)  // expect: by none of the signatures
  list.append([](const std::string&) {});
#endif
#if defined(WRONG_call_of_two_signatures)  // expect: several of the signatures take
  list(1L);
#endif
#if defined(WRONG_call_of_no_signature)  // expect: none of the signatures takes
  list("text");
#endif
#if defined(WRONG_unknown_signature)  // expect: none of the signatures, or twice
  list.of<void(long)>();
#endif
#if defined(WRONG_copied_data)  // expect: deleted
  handoff::AnyData<> copy = data;
#endif
#if defined(WRONG_reference_in_data)  // expect: values, not references
  int number = 0;
  data.emplace<int&>(number);
#endif
}
