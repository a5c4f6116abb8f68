// SPDX-License-Identifier: MIT
//
// eventpp's MixinFilter: functions that see every event before its listeners, and may change the
// arguments or end the dispatch.
//
//   struct MyPolicies { using Mixins = eventpp::MixinList<eventpp::MixinFilter>; };
//   eventpp::EventDispatcher<int, void(int, std::string), MyPolicies> dispatcher;
//   dispatcher.appendFilter([](int& n, std::string& s) { return n != 3; });
//
// For: programs written against eventpp. Not for: new ones, see handoff::EventDispatcher.
// Filters are called in their order until one says false. They get each argument as an lvalue: one
// that the prototype takes by value without its const, a reference with it.
// Concurrency, order, blocking, allocation, exceptions, handles: as in CallbackList.
// Source: the interface is that of github.com/wqking/eventpp, as its documentation describes it.
#pragma once

#include <type_traits>

#include <eventpp/callbacklist.h>
#include <eventpp/internal/filtering.hpp>

namespace eventpp {
namespace internal {

template <class Prototype, class Policies>
struct FiltersOf;
template <class R, class... Args, class Policies>
struct FiltersOf<R(Args...), Policies> {
  using type = CallbackList<bool(std::remove_reference_t<Args>&...), FilterPolicies<Policies>>;
};
template <class Base>
using FiltersFor = typename FiltersOf<typename Base::Prototype, typename Base::Policies>::type;

}  // namespace internal

template <class Base>
class MixinFilter : public internal::Filtering<Base, internal::FiltersFor<Base>,
                                               typename internal::FiltersFor<Base>::Callback> {
 public:
  using Filter = typename internal::FiltersFor<Base>::Callback;
};

}  // namespace eventpp
