// SPDX-License-Identifier: MIT
#include "descriptor_message.hpp"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cstring>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

int no_wait(MayWait may_wait) noexcept { return may_wait == MayWait::yes ? 0 : MSG_DONTWAIT; }

}  // namespace

int send_message(int socket, const void* bytes, std::size_t size, std::span<const int> passed,
                 MayWait may_wait) noexcept {
  alignas(cmsghdr) char control[CMSG_SPACE(kMostPassed * sizeof(int))] = {};
  iovec part{const_cast<void*>(bytes), size};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!passed.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(passed.size_bytes());
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(passed.size_bytes());
    std::memcpy(CMSG_DATA(head), passed.data(), passed.size_bytes());
  }
  for (;;) {
    const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | no_wait(may_wait));
    if (sent >= 0) return 0;
    if (errno != EINTR) return errno;
  }
}

ssize_t receive_message(int socket, void* bytes, std::size_t size, std::span<Descriptor> passed,
                        MayWait may_wait) noexcept {
  alignas(cmsghdr) char control[CMSG_SPACE(kMostPassed * sizeof(int))];
  iovec part{bytes, size};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t received = -1;
  do {
    // descriptor: above_streams() has each of them below.
    received = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | no_wait(may_wait));
  } while (received < 0 && errno == EINTR);
  if (received < 0) return received;
  std::size_t next = 0;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr;
       head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(head) + i * sizeof number, sizeof number);
      Descriptor one(descriptors::above_streams(number));  // closed unless it is wanted
      if (next < passed.size()) passed[next++] = std::move(one);
    }
  }
  return received;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
