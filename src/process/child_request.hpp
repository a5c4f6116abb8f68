// SPDX-License-Identifier: MIT
//
// What a user asks for, made into what the child needs: checked, with all memory and descriptors.
#pragma once

#include <array>
#include <cstddef>
#include <handoff/config.hpp>
#include <handoff/process/subprocess_options.hpp>
#include <string>
#include <vector>

#include "../sync/internal/descriptor.hpp"
#include "child_side.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Looks into the streams of the options.
struct StreamAccess {
  static StreamKind kind(const SubprocessInput& input) noexcept { return input.kind_; }
  static StreamKind kind(const SubprocessOutput& output) noexcept { return output.kind_; }
  static int descriptor(const SubprocessInput& input) noexcept { return input.descriptor_; }
  static int descriptor(const SubprocessOutput& output) noexcept { return output.descriptor_; }
  static const std::string& bytes(const SubprocessInput& input) noexcept { return input.bytes_; }
  static std::size_t limit(const SubprocessOutput& output) noexcept { return output.limit_; }
};

class ChildRequest {
 public:
  // Throws std::invalid_argument for what can never work, std::system_error for streams that cannot
  // be had, std::bad_alloc. `arguments` and `options` outlive this.
  ChildRequest(const std::vector<std::string>& arguments, const SubprocessOptions& options);
  ChildRequest(const ChildRequest&) = delete;
  ChildRequest& operator=(const ChildRequest&) = delete;

  ChildPlan& plan() noexcept { return plan_; }
  // This process' ends of the pipes: input, output, error.
  Descriptor& own_end(std::size_t stream) noexcept { return own_ends_[stream]; }
  // For texts.
  [[nodiscard]] const std::string& program() const noexcept { return program_; }

 private:
  [[nodiscard]] const char* childs_path() const noexcept;
  void find_executables();
  void make_environment();
  void open_streams();
  int input_source();
  int output_source(std::size_t stream, const SubprocessOutput& output, int other);
  int null_device();
  int inherited_or_null(int number);
  void make_pipe(std::size_t stream);
  void make_input_file(const std::string& bytes);
  void add_descriptors();
  void add_limits();
  void choose_cpus();
  [[noreturn]] void fail_stream(int error) const;

  const SubprocessOptions& options_;
  const std::string& program_;

  ChildPlan plan_;
  std::vector<std::string> paths_;
  std::vector<const char*> executables_;
  std::vector<char*> argument_pointers_;
  std::vector<char*> environment_;
  std::vector<ChildDescriptor> descriptors_;
  std::vector<ChildLimit> limits_;
  std::array<unsigned long, kCpuSetBytes / sizeof(unsigned long)> cpus_{};

  std::array<bool, 3> streams_open_{};  // those of this process
  Descriptor null_;
  std::array<Descriptor, 3> own_ends_;
  std::array<Descriptor, 3> childs_ends_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
