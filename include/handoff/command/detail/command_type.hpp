// SPDX-License-Identifier: MIT
//
// What a bucket knows of a type of commands: its size, its name, and a function for each backend.
// Not for users.
//
// A command C gets to a backend B by the first of these that compiles:
//   backend(command, aux)            a backend that takes commands, with their auxiliary memory
//   backend(command)                 the same without
//   C::dispatch(command, backend)    a command that knows its backends
//   command(backend)                 the same as an operator
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>

#include <handoff/command/command_aux.hpp>
#include <handoff/config.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/type_name.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class C, class B>
concept TakenWithAux =
    requires(const C& command, B& backend, AuxBytes aux) { backend(command, aux); };
template <class C, class B>
concept TakenAlone = requires(const C& command, B& backend) { backend(command); };
template <class C, class B>
concept DispatchesItself =
    requires(const C& command, B& backend) { C::dispatch(command, backend); };
template <class C, class B>
concept CallsItself = requires(const C& command, B& backend) { command(backend); };

template <class C, class B>
concept DispatchableTo =
    TakenWithAux<C, B> || TakenAlone<C, B> || DispatchesItself<C, B> || CallsItself<C, B>;

// What can lie in a bucket at all.
template <class C>
concept PlainCommand =
    std::is_object_v<C> && std::is_trivially_copyable_v<C> && std::is_trivially_destructible_v<C> &&
    std::is_nothrow_default_constructible_v<C>;

// command: its address.
using CommandDispatch = void (*)(const std::byte* command, void* backend);

struct CommandType {
  std::uint32_t bytes;
  std::uint32_t alignment;
  std::uint32_t offset;  // of the command in its packet
  const char* name;      // a text in which the compiler has written "F = the name"
};

template <std::size_t kBackends>
struct CommandTypeFor : CommandType {
  CommandDispatch dispatch[kBackends];
};

template <class C, class B>
void dispatch_command(const std::byte* at, void* to) {
  const C& command = *std::launder(reinterpret_cast<const C*>(at));
  B& backend = *static_cast<B*>(to);
  if constexpr (TakenWithAux<C, B>) {
    detail::call_and_drop(backend, command, aux_of(command));
  } else if constexpr (TakenAlone<C, B>) {
    detail::call_and_drop(backend, command);
  } else if constexpr (DispatchesItself<C, B>) {
    detail::call_and_drop([&]() -> decltype(auto) { return C::dispatch(command, backend); });
  } else {
    detail::call_and_drop(command, backend);
  }
}

// The one of a bucket with these backends.
template <class C, class... Backends>
struct CommandTypeIn {
  [[gnu::visibility("hidden")]]  // docs/adr/0013
  static constexpr CommandTypeFor<sizeof...(Backends)> kType{
      {static_cast<std::uint32_t>(sizeof(C)), static_cast<std::uint32_t>(alignof(C)),
       static_cast<std::uint32_t>(kCommandOffset<C>), type_name<C>()},
      {&dispatch_command<C, Backends>...}};
};

// At which place among the bucket's backends B is, or what B derives from; their number: nowhere.
template <class B, class... Backends>
consteval std::size_t backend_index() {
  std::size_t at = 0;
  std::size_t same = sizeof...(Backends);
  std::size_t base = sizeof...(Backends);
  const auto look = [&](bool is_same, bool is_base) {
    if (is_same && same == sizeof...(Backends)) same = at;
    if (is_base && base == sizeof...(Backends)) base = at;
    ++at;
  };
  (look(std::is_same_v<B, Backends>, std::is_convertible_v<B*, Backends*>), ...);
  return same != sizeof...(Backends) ? same : base;
}

// The I-th of some types.
template <std::size_t kIndex, class First, class... Rest>
struct NthType : NthType<kIndex - 1, Rest...> {};
template <class First, class... Rest>
struct NthType<0, First, Rest...> {
  using type = First;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
