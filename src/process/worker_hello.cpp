// SPDX-License-Identifier: MIT
#include "worker_hello.hpp"

#include <algorithm>
#include <string_view>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

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

}}}  // namespace handoff::HANDOFF_ABI::detail
