// SPDX-License-Identifier: MIT
//
// A program whose processes are the workers of another program's ProcessTeam. Both are built apart,
// and each may be updated apart.
//
//   struct Blur {  // in a header that both programs have
//     handoff::SharedSpan<const float> in;
//     handoff::SharedSpan<float> out;
//   };
//
//   void blur_rows(handoff::IndexRange rows, const Blur& blur);  // the worker program
//   int main() { return handoff::worker_main({{"blur", blur_rows}}); }
//
//   void blur_all(std::size_t rows, const Blur& blur) {  // the other one
//     handoff::ProcessTeam team{{.width = 8, .program = {"./blur_worker"}}};
//     (void)team.run("blur", rows, blur);
//   }
//
// For: code that is built, licensed, linked or updated apart from the program that wants its work.
// Not for: code of the program itself (run<kernel>() of a ProcessTeam: no names, no start-up).
//
// Contract:
// - The main thread calls worker_main() once, before the program reads or writes descriptor 3. It
//   works until the team ends it, and returns 0; 1 if the team does not want it (the team says
//   why); 2 if no team has started this program: say so then. It throws nothing.
// - Kernels: as for run<kernel>(), see process_team.hpp; here exit() is the program's own. They are
//   called one after another, on the main thread. It is misuse to name two kernels alike, to give a
//   name that is none (1 to 47 bytes without spaces), and to have more than 64.
// - Arguments come as bytes. The team refuses a run unless name, size and alignment of the
//   arguments are the same in both programs, and so is `Arguments::layout`, if that is a number:
//     static constexpr auto layout = handoff::shared_layout<float, int>({2});  // version 2
// - Memory: SharedSpan::get() finds any SharedMemory of the team's program, also one that is made
//   during the run. It lies elsewhere here, so pointers mean nothing.
// - The process has the standard streams (input: none) and what is needed here. It ends with the
//   program of the team, at once, however that ends.
// - Allocates: before the first run, and for memory that it maps.
//
// How the two programs get to know each other: docs/design/worker_program.md.
#pragma once

#include <initializer_list>
#include <span>
#include <type_traits>

#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/process/detail/kernel_signature.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// A function of this program that a team may call by its name.
class NamedKernel {
 public:
  // `kernel` takes an IndexRange and its arguments, by value or as const&.
  template <class Given>
  NamedKernel(const char* name, void (*kernel)(IndexRange, Given)) noexcept
      : NamedKernel(name, detail::KernelSignature::of<std::remove_cvref_t<Given>>(name),
                    reinterpret_cast<void (*)()>(kernel), &call<Given>) {
    using Arguments = std::remove_cvref_t<Given>;
    static_assert(std::is_trivially_copyable_v<Arguments>,
                  "NamedKernel: arguments are copied byte by byte from another process");
    static_assert(sizeof(Arguments) <= 4096 && alignof(Arguments) <= 64,
                  "NamedKernel: at most 4096 bytes of arguments: take a SharedSpan");
    static_assert(std::is_convertible_v<const Arguments&, Given>,
                  "NamedKernel: arguments are taken by value or as const&");
  }

  // As it was given.
  [[nodiscard]] const char* name() const noexcept { return name_; }
  // For the team.
  [[nodiscard]] const detail::KernelSignature& signature() const noexcept { return signature_; }
  // Calls it; `arguments` is the address of a copy.
  void operator()(const void* arguments, IndexRange range) const {
    call_(kernel_, arguments, range);
  }

 private:
  using Call = void (*)(void (*kernel)(), const void* arguments, IndexRange range);

  NamedKernel(const char* name, const detail::KernelSignature& signature, void (*kernel)(),
              Call caller) noexcept
      : name_(name), signature_(signature), kernel_(kernel), call_(caller) {}

  template <class Given>
  static void call(void (*kernel)(), const void* arguments, IndexRange range) {
    reinterpret_cast<void (*)(IndexRange, Given)>(kernel)(
        range, *static_cast<const std::remove_cvref_t<Given>*>(arguments));
  }

  const char* name_;
  detail::KernelSignature signature_;
  void (*kernel_)();
  Call call_;
};

// The life of a worker, what main() returns. See above.
[[nodiscard]] int worker_main(std::span<const NamedKernel> kernels);
// The same: worker_main({{"blur", blur_rows}, {"sharpen", sharpen_rows}}).
[[nodiscard]] inline int worker_main(std::initializer_list<NamedKernel> kernels) {
  return worker_main(std::span<const NamedKernel>(kernels.begin(), kernels.size()));
}

}}  // namespace handoff::HANDOFF_ABI
