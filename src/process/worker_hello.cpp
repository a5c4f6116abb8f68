// SPDX-License-Identifier: MIT
#include "worker_hello.hpp"

#include <errno.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr std::size_t kMostPassed = 4;

std::string takes(const KernelSignature& kernel) {
  return std::to_string(kernel.bytes) + " bytes of arguments, aligned to " +
         std::to_string(kernel.alignment) +
         (kernel.layout == 0 ? "" : ", of layout " + std::to_string(kernel.layout));
}

}  // namespace

std::string names_of(const std::vector<KernelSignature>& kernels) {
  std::string names;
  for (const KernelSignature& kernel : kernels) {
    names += (names.empty() ? "\"" : ", \"") + std::string(kernel.name) + "\"";
  }
  return names.empty() ? "none" : names;
}

std::string fault_of(const WorkerHello& hello, std::size_t bytes,
                     const std::vector<KernelSignature>& wanted) {
  if (bytes < WorkerHello::bytes_for(0) || hello.magic != kWorkerMagic) {
    return "has said something else than a worker says first";
  }
  if (hello.version != kWorkerVersion || hello.layout != kWorkerLayout) {
    return "was built with another version of handoff (its workers' protocol is " +
           std::to_string(hello.version) + ", here it is " + std::to_string(kWorkerVersion) +
           (hello.version == kWorkerVersion ? ", with another layout" : "") +
           "): build it again with this one";
  }
  if (hello.count > WorkerHello::most_kernels || bytes != WorkerHello::bytes_for(hello.count)) {
    return "has sent a list of kernels that is cut short";
  }
  const auto end = hello.kernels.begin() + hello.count;
  for (auto at = hello.kernels.begin(); at != end; ++at) {
    const std::size_t length = ::strnlen(at->name, KernelSignature::most_name);
    if (!is_kernel_name({at->name, length})) return "has a kernel without a right name";
  }
  for (const KernelSignature& kernel : wanted) {
    const auto same = std::find_if(hello.kernels.begin(), end, [&](const KernelSignature& other) {
      return std::string_view(other.name) == kernel.name;
    });
    const std::string name = '"' + std::string(kernel.name) + '"';
    if (same == end) return "has no kernel " + name + ", which those that began before have";
    if (!(*same == kernel)) {
      return "takes for its kernel " + name + " " + takes(*same) +
             ", and those that began before " + takes(kernel);
    }
  }
  return {};
}

int send_message(int socket, const void* bytes, std::size_t size,
                 std::span<const int> passed) noexcept {
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
    const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return 0;
    if (errno != EINTR) return errno;
  }
}

ssize_t receive_message(int socket, void* bytes, std::size_t size, std::span<Descriptor> passed,
                        bool may_wait) noexcept {
  alignas(cmsghdr) char control[CMSG_SPACE(kMostPassed * sizeof(int))];
  iovec part{bytes, size};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t received = -1;
  do {
    received = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | (may_wait ? 0 : MSG_DONTWAIT));
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
      Descriptor one(number);  // closed unless it is wanted
      if (next < passed.size()) passed[next++] = std::move(one);
    }
  }
  return received;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
