// SPDX-License-Identifier: MIT
//
// Messages with descriptors, over a Unix socket that keeps messages apart.
//
// For both sides of a fork: no allocation, no lock. Descriptors arrive close-on-exec.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <handoff/config.hpp>
#include <span>

#include "../sync/internal/descriptor.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

inline constexpr std::size_t kMostPassed = 4;  // descriptors in a message

enum class MayWait : bool { no, yes };  // for room in the socket, or for a message

// Sends one message; 0, or the errno: EAGAIN if there is no room and it may not wait.
int send_message(int socket, const void* bytes, std::size_t size, std::span<const int> passed = {},
                 MayWait may_wait = MayWait::no) noexcept;
// Receives one: its bytes, at most `size`; 0: the other end is closed; -1 and errno. Descriptors
// beyond those that are wanted are closed.
ssize_t receive_message(int socket, void* bytes, std::size_t size, std::span<Descriptor> passed,
                        MayWait may_wait) noexcept;

}}}  // namespace handoff::HANDOFF_ABI::detail
