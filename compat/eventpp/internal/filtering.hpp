// SPDX-License-Identifier: MIT
//
// What MixinFilter and MixinHeterFilter share: a list of functions that every event passes first.
//
// Not for: users. Concurrency: as Filters, a list of callbacks.
#pragma once

#include <utility>

#include <eventpp/internal/policies.hpp>

namespace eventpp::internal {

// An own Callback is one for listeners, and canContinueInvoking asks listeners too.
template <class Policies>
struct FilterPolicies {
  using Threading = typename ThreadingOf<Policies>::type;
};

// `Filter` is what a filter is kept as, where that is one type.
template <class Base, class Filters, class Filter = void>
class Filtering : public Base {
 public:
  using FilterHandle = typename Filters::Handle;

  template <class F = Filter>
  FilterHandle appendFilter(F&& filter) {
    return filters_.append(std::forward<F>(filter));
  }
  bool removeFilter(const FilterHandle& handle) { return filters_.remove(handle); }

  void swap(Filtering& other) noexcept
    requires requires(Base& base) { base.swap(base); }
  {
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

}  // namespace eventpp::internal
