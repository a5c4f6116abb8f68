// SPDX-License-Identifier: MIT
//
// An exception that nobody took: what the library does with it.
//
//   handoff::set_unheard_handler(handoff::OnUnheard::terminate);  // as std::thread does
//   handoff::set_unheard_handler([](const char* what) noexcept { my_log(what); });
//
// An exception is taken by get(), wait(), run(), drain(), on_error, on_failure(), co_await, or the
// completion of a started loop. The first exception of a group or a loop stands for all of it. A
// Tally counts failures and takes none. Every other exception goes to one handler of the program,
// as soon as nobody can take it any more; docs/guide/contract.md says when that is for each type.
// A task that was cancelled or expired has thrown nothing.
// Concurrency: any thread. Blocks: as writing a line does. Throws: never. Allocates: the sentence.
#pragma once

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// `what`: one sentence without a line end: which object, which task if it has a name, what it threw
// and what to do; alive during the call only. Called where the exception is being handled, so
// std::current_exception() is it; on the thread that found out, by several at the same moment.
using UnheardHandler = void (*)(const char* what) noexcept;

// The handlers that most programs want.
struct OnUnheard {
  // The default. A line on standard error, at most one a second; the next one, or the end of the
  // program, says how many were left out. Nothing, unless descriptor 2 is the file that the program
  // started with.
  static void tell(const char* what) noexcept;
  // The line, then std::terminate(). terminate: a program may ask for it.
  [[noreturn]] static void terminate(const char* what) noexcept;
  static void ignore(const char* what) noexcept;
};

// For the whole program. Returns the handler before; null: OnUnheard::tell.
UnheardHandler set_unheard_handler(UnheardHandler handler) noexcept;

}}  // namespace handoff::HANDOFF_ABI
