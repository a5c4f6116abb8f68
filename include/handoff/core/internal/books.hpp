// SPDX-License-Identifier: MIT
//
// A name for the code that may look into a structure at rest and say whether it is whole: counts,
// free lists, heap order, nothing reachable twice. Not for users, and nothing here runs in a
// program of theirs.
//
// A structure says `template <class> friend struct detail::Books;`. Its book is written once, as a
// specialisation in tests/books/, and is asked at the end of scenarios, models and stress tests
// (docs/adr/0012-books.md).
#pragma once

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class Structure>
struct Books;

}}}  // namespace handoff::HANDOFF_ABI::detail
