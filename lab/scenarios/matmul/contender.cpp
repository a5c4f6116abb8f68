// SPDX-License-Identifier: MIT
// Turns the lab's parameters and input into a task: operands in memory of the contender's own, at
// borders of pages, so that they lie alike for all, and touched before anything is timed.
#include "scenarios/matmul/contender.hpp"

namespace handoff::lab::matmul {

// Weak: a contender's own takes its place.
[[gnu::weak]] std::shared_ptr<std::byte> matrix_memory(std::size_t bytes) {
  constexpr std::align_val_t alignment{4096};
  return {static_cast<std::byte*>(::operator new(bytes, alignment)),
          [](std::byte* memory) { ::operator delete(memory, alignment); }};
}

namespace {

using Memory = std::shared_ptr<std::byte>;

Memory copy(std::span<const std::byte> bytes) {
  Memory memory = matrix_memory(bytes.size());
  std::memcpy(memory.get(), bytes.data(), bytes.size());
  return memory;
}

// Owns what the operation works on.
struct Bench {
  Memory a;
  Memory b;
  Memory c;
  std::unique_ptr<Task> task;  // its address is handed out, so it must not move
};

template <typename T>
Prepared prepare_as(const Parameters& parameters, std::span<const std::byte> input) {
  const std::size_t n = parameters.number("n");
  const std::size_t m = parameters.number("m", n);
  const std::size_t k = parameters.number("k", n);
  if (input.size() < (m * k + k * n) * sizeof(T)) throw std::length_error("the input is too short");
  const auto output_bytes = std::max(m * n * sizeof(T), sizeof(double));  // or a limit's count
  auto bench = std::make_shared<Bench>();
  bench->a = copy(input.subspan(0, m * k * sizeof(T)));
  bench->b = copy(input.subspan(m * k * sizeof(T), k * n * sizeof(T)));
  bench->c = matrix_memory(output_bytes);
  std::memset(bench->c.get(), 0, output_bytes);
  const Operands<T> operands{reinterpret_cast<const T*>(bench->a.get()),
                             reinterpret_cast<const T*>(bench->b.get()),
                             reinterpret_cast<T*>(bench->c.get()),
                             m,
                             n,
                             k};
  bench->task = std::make_unique<Task>(Task{m, n, k, parameters.number("width"),
                                            kernel_named(parameters.text("kernel")), operands,
                                            bench->c.get(), parameters.number("kill", 0)});
  return {[bench, operation = contender(*bench->task)](Burst& burst) {
            bench->task->burst = &burst;
            operation();
          },
          {bench->c.get(), output_bytes}};
}

}  // namespace

Kernel kernel_named(const std::string& name) {
  static const std::map<std::string, Kernel> kernels{{"naive", Kernel::naive},
                                                     {"naive_restrict", Kernel::naive_restrict},
                                                     {"ikj", Kernel::ikj},
                                                     {"tile", Kernel::tile}};
  const auto found = kernels.find(name);
  if (found == kernels.end()) throw std::invalid_argument("there is no kernel " + name);
  return found->second;
}

}  // namespace handoff::lab::matmul

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> input) {
  return parameters.text("dtype", "float32") == "float64"
             ? matmul::prepare_as<double>(parameters, input)
             : matmul::prepare_as<float>(parameters, input);
}
