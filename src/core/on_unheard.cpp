// SPDX-License-Identifier: MIT
//
// The handler of exceptions that nobody took, and the line that it writes by default.
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/unheard.hpp>
#include <handoff/core/on_unheard.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <string>
#include <string_view>

#include "../sync/internal/joined.hpp"
#include "../sync/internal/seen_sanitizer.hpp"
#include "internal/escaped_text.hpp"
#include "internal/failure_text.hpp"
#include "internal/line_limit.hpp"

namespace handoff { inline namespace HANDOFF_ABI {
namespace {

using sync::joined;

// The file behind descriptor 2.
struct StandardError {
  static StandardError now() noexcept {
    struct stat file = {};
    if (::fstat(STDERR_FILENO, &file) != 0) return {};
    return {.is_open = true, .device = file.st_dev, .number = file.st_ino};
  }
  bool operator==(const StandardError&) const = default;

  bool is_open = false;
  dev_t device = 0;
  ino_t number = 0;
};

constinit StandardError at_start{};
constinit detail::LineLimit unheard_lines;
constinit sync::atomic<UnheardHandler> unheard_handler{nullptr};  // null: OnUnheard::tell

// The explorer ends the same program many thousand times, and nobody reads its lines.
UnheardHandler or_tell(UnheardHandler handler) noexcept {
#if defined(HANDOFF_EXPLORE)
  constexpr UnheardHandler tell = &OnUnheard::ignore;
#else
  constexpr UnheardHandler tell = &OnUnheard::tell;
#endif
  return handler != nullptr ? handler : tell;
}

// By one call, so that the lines of several threads stay lines. A file that took the place of
// standard error is the program's own: a line in its middle would spoil it.
void write_line(const char* what) noexcept {
  if (!at_start.is_open || StandardError::now() != at_start) return;
  const auto part = [](const char* text) noexcept {
    return iovec{.iov_base = const_cast<char*>(text), .iov_len = std::strlen(text)};
  };
  const std::array<iovec, 3> line{part("handoff: "), part(what), part("\n")};
  [[maybe_unused]] const auto written = ::writev(STDERR_FILENO, line.data(), line.size());
}

// "; 12 more were left out"; empty if none were.
[[gnu::cold]] std::string more_left_out() {
  const std::uint64_t left_out = unheard_lines.take_left_out();
  return left_out == 0 ? "" : joined({"; ", std::to_string(left_out), " more were left out"});
}

[[gnu::cold]] void write_line_and_rest(const char* what) noexcept {
  const auto write = [what] { write_line(joined({what, more_left_out()}).c_str()); };
  (void)detail::attempt(write, [what]() noexcept { write_line(what); });
}

bool may_write() noexcept {
  return unheard_lines.may(sync::clock::now().time_since_epoch().count());
}

[[gnu::cold]] std::string sentence(const char* thrown, const detail::Thrower& thrower) {
  using detail::escaped;
  const auto named = [](std::string_view what, std::string_view name) {
    return joined({what, " '", escaped(name), "'"});
  };
  return joined({thrower.name.empty() ? thrower.type : named(thrower.type, thrower.name), ": ",
                 thrower.own.empty() ? thrower.some : named(thrower.the, thrower.own),
                 " threw: ", escaped(thrown), "; nobody took it: ", thrower.remedy});
}

// Before the constructors of the program's own objects, and after their destructors.
constexpr int kEarly = 1000;

[[gnu::constructor(kEarly)]] void look_at_standard_error() noexcept {
  at_start = StandardError::now();
}

[[gnu::destructor(kEarly)]] void tell_what_was_left_out() noexcept {
  (void)detail::attempt([] {
    const std::string more = more_left_out();
    if (!more.empty()) write_line(joined({"exceptions that nobody took", more}).c_str());
  });
}

}  // namespace

void OnUnheard::tell(const char* what) noexcept {
  if (may_write()) write_line_and_rest(what);
}

// terminate: the program asked for it.
void OnUnheard::terminate(const char* what) noexcept {
  write_line_and_rest(what);
  std::terminate();  // terminate: see above
}

void OnUnheard::ignore(const char* /*what*/) noexcept {}

UnheardHandler set_unheard_handler(UnheardHandler handler) noexcept {
  sync::tell_given(&unheard_handler);
  // order: release pairs with the acquire in unheard(): what the handler needs is visible to it.
  return or_tell(unheard_handler.exchange(handler, sync::order::release));
}

namespace detail {

// Where lines are left out there may be many: no text is made for those.
void unheard(const std::exception_ptr& error, const Thrower& thrower) noexcept {
  // order: acquire pairs with the exchange in set_unheard_handler().
  UnheardHandler handler = or_tell(unheard_handler.load(sync::order::acquire));
  sync::tell_taken(&unheard_handler);
  if (handler == &OnUnheard::ignore) return;
  if (handler == &OnUnheard::tell) {
    if (!may_write()) return;
    handler = &write_line_and_rest;
  }
  const auto tell = [&](const char* thrown) noexcept {
    const auto whole = [&] { handler(sentence(thrown, thrower).c_str()); };
    (void)attempt(whole, [&]() noexcept { handler("no memory is left to say what a task threw"); });
  };
  (void)attempt([&error] { std::rethrow_exception(error); },
                [&tell]() noexcept { keep_failure_text(tell); });
}

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI
