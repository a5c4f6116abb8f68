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

#include <functional>
#include <type_traits>
#include <utility>

#include <eventpp/callbacklist.h>

namespace eventpp {
namespace internal {

template <class Prototype, class Policies>
struct FiltersOf;
template <class R, class... Args, class Policies>
struct FiltersOf<R(Args...), Policies> {
  struct FilterPolicies {  // an own Callback is one for listeners
    using Threading = typename ThreadingOf<Policies>::type;
  };
  using type = CallbackList<bool(std::remove_reference_t<Args>&...), FilterPolicies>;
};

}  // namespace internal

template <class Base>
class MixinFilter : public Base {
  using Filters =
      typename internal::FiltersOf<typename Base::Prototype, typename Base::Policies>::type;

 public:
  using Filter = typename Filters::Callback;
  using FilterHandle = typename Filters::Handle;

  template <class F = Filter>
  FilterHandle appendFilter(F&& filter) {
    return filters_.append(std::forward<F>(filter));
  }
  bool removeFilter(const FilterHandle& handle) { return filters_.remove(handle); }

  void swap(MixinFilter& other) noexcept {
    Base::swap(other);
    filters_.swap(other.filters_);
  }

  template <class... Args>
  bool mixinBeforeDispatch(Args&&... args) const {
    return filters_.callWhile(args...);
  }

 private:
  Filters filters_;
};

}  // namespace eventpp
