// SPDX-License-Identifier: MIT
//
// What happens when the library is used wrongly: a closed thing used as if open, a team run from
// inside itself, an empty function called.
//
// Such a call goes to one handler that the program may set, to log or to break into a debugger.
// If the handler returns, Misuse is thrown; or the program ends by std::terminate, if one of its
// units is compiled without exceptions.
// Concurrency: any thread. Blocks: never. Allocates: the exception.
#pragma once

#include <stdexcept>

#include <handoff/config.hpp>
#include <handoff/core/internal/attempt.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// what(): which call was wrong and what to do instead.
class Misuse : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// `what`: one sentence, which call was wrong and what to do instead; alive during the call only.
using MisuseHandler = void (*)(const char* what);

// Returns the handler before; null: none.
MisuseHandler set_misuse_handler(MisuseHandler handler) noexcept;

// Reports a misuse. Does not return.
[[noreturn]] void misuse(const char* what);

// Throws an error; in a program without exceptions it can only be reported as misuse.
template <class Error>
[[noreturn]] void raise(const Error& error) {
  detail::throw_error(error);
  misuse(error.what());
}

}}  // namespace handoff::HANDOFF_ABI
