// SPDX-License-Identifier: MIT
//
// eventpp's MixinHeterFilter: MixinFilter for dispatchers and queues of several prototypes.
//
//   struct MyPolicies { using Mixins = eventpp::MixinList<eventpp::MixinHeterFilter>; };
//
// For: programs written against eventpp. Not for: new ones, see handoff::HeterEventDispatcher.
// A filter belongs to the first prototype whose arguments, as lvalues, it can be called with, and
// sees the events of that one. All else: as MixinFilter.
// Source: the interface is that of github.com/wqking/eventpp, as its documentation describes it.
#pragma once

#include <utility>

#include <eventpp/hetercallbacklist.h>

namespace eventpp {

template <class Base>
class MixinHeterFilter : public Base {
  struct FilterPolicies {
    using Threading = typename internal::ThreadingOf<typename Base::Policies>::type;
  };
  using Filters = HeterCallbackList<typename Base::FilterList, FilterPolicies>;

 public:
  using FilterHandle = typename Filters::Handle;

  template <class F>
  FilterHandle appendFilter(F&& filter) {
    return filters_.append(std::forward<F>(filter));
  }
  bool removeFilter(const FilterHandle& handle) { return filters_.remove(handle); }

  template <class... Args>
  bool mixinBeforeDispatch(Args&&... args) const {
    return filters_.callWhile(args...);
  }

 private:
  Filters filters_;
};

}  // namespace eventpp
