// SPDX-License-Identifier: MIT
// Whether this machine is a virtual one: threads of such a one may stand still while the host runs
// others, and waking one costs more.
#include "harness/environment.hpp"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace handoff::lab {

#if defined(__x86_64__) || defined(__i386__)

// A bit of leaf 1 is kept for hypervisors to say that they are there, and leaf 0x40000000 for their
// signature of twelve letters.
std::optional<std::string> this_hypervisor() {
  constexpr unsigned present = 1U << 31;
  constexpr unsigned signature_leaf = 0x40000000;
  constexpr std::array<std::pair<std::string_view, const char*>, 8> known{
      {{"KVMKVMKVM", "KVM"},
       {"Microsoft Hv", "Hyper-V"},
       {"VMwareVMware", "VMware"},
       {"XenVMMXenVMM", "Xen"},
       {"VBoxVBoxVBox", "VirtualBox"},
       {"bhyve bhyve ", "bhyve"},
       {"TCGTCGTCGTCG", "QEMU"},
       {" lrpepyh  vr", "Parallels"}}};
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return {};
  if ((c & present) == 0) return "none";
  __cpuid(signature_leaf, a, b, c, d);
  std::array<char, 12> signature{};
  std::memcpy(signature.data(), &b, 4);
  std::memcpy(signature.data() + 4, &c, 4);
  std::memcpy(signature.data() + 8, &d, 4);
  const std::string_view letters(signature.data(), signature.size());
  for (const auto& [begin, name] : known) {
    if (letters.starts_with(begin)) return name;
  }
  return "another";
}

#else

std::optional<std::string> this_hypervisor() { return {}; }

#endif

}  // namespace handoff::lab
