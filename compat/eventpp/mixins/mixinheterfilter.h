// SPDX-License-Identifier: MIT
//
// eventpp's MixinHeterFilter: MixinFilter for dispatchers and queues of several prototypes.
//
//   struct MyPolicies { using Mixins = eventpp::MixinList<eventpp::MixinHeterFilter>; };
//
// For: programs written against eventpp. Not for: new ones, see handoff::AnyData.
// A filter belongs to the first prototype whose arguments, as lvalues, it can be called with, and
// sees the events of that one. All else: as MixinFilter.
// Source: the interface is that of github.com/wqking/eventpp, as its documentation describes it.
#pragma once

#include <eventpp/hetercallbacklist.h>
#include <eventpp/internal/filtering.hpp>

namespace eventpp {
namespace internal {

template <class Base>
using HeterFiltersFor =
    HeterCallbackList<typename Base::FilterList, FilterPolicies<typename Base::Policies>>;

}  // namespace internal

template <class Base>
class MixinHeterFilter : public internal::Filtering<Base, internal::HeterFiltersFor<Base>> {};

}  // namespace eventpp
