// SPDX-License-Identifier: MIT
//
// The work of a team as a plain function and plain arguments: the form that threads, processes
// and machines can all take.
//
//   struct Rows {
//     const float* a;
//     const float* b;
//     float* c;
//     std::size_t columns;
//   };
//   void compute_rows(handoff::IndexRange range, const Rows& rows) { ... }
//
// A team runs it by name:
//
//   team.run<compute_rows>(row_count, Rows{a, b, c, columns});
//
// A kernel captures nothing and its arguments are trivially copyable, so that a process or a
// machine can be sent the arguments' bytes and find the function in its own copy of the program.
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>

#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/internal/invoke.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// How a team calls any work: one function for all types of it.
using BlockCall = void (*)(const void* work, IndexRange block);

// body(block) as a BlockCall; `work` is the body's address.
template <class Body>
void call_block_body(const void* work, IndexRange block) {
  detail::call_and_drop(*static_cast<const Body*>(work), block);
}

// start(call, work) for this body, as run() hands it on. No `const void*` holds the address of a
// plain function: until start() returns, a pointer to it stands in for it.
template <class Body, class Start>
auto with_block_call(const Body& body, const Start& start) {
  if constexpr (std::is_function_v<Body>) {
    Body* const function = body;
    return start(&call_block_body<Body*>, std::addressof(function));
  } else {
    return start(&call_block_body<Body>, std::addressof(body));
  }
}

// A function of a range and of arguments that can be copied as bytes, without a capture: what
// another process can be told to call.
template <auto kernel, class Arguments>
concept KernelOf = std::is_trivially_copyable_v<Arguments> &&
                   std::is_function_v<std::remove_pointer_t<decltype(kernel)>> &&
                   requires(IndexRange range, const Arguments& arguments) {
                     { kernel(range, arguments) } -> std::same_as<void>;
                   };

// The kernel as a BlockCall; `work` is the address of a copy of the arguments.
template <auto kernel, class Arguments>
  requires KernelOf<kernel, Arguments>
void call_kernel(const void* work, IndexRange block) {
  kernel(block, *static_cast<const Arguments*>(work));
}

}}  // namespace handoff::HANDOFF_ABI
