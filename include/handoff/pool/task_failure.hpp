// SPDX-License-Identifier: MIT
//
// What a task threw that has neither a Future nor a TaskGroup: what ThreadPoolOptions::on_error
// gets.
#pragma once

#include <exception>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

struct TaskFailure {
  std::exception_ptr error;  // what it threw
  const char* task = "";     // TaskOptions::name; empty if it had none
};

}}  // namespace handoff::HANDOFF_ABI
