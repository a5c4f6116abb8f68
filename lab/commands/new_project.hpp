// SPDX-License-Identifier: MIT
// `handoff try --new DIR`: a project with a kernel, ready to be compiled.
#pragma once

#include <filesystem>

namespace handoff::lab {

// All of its files or none, and never over one that is there. Throws UserError.
void make_try_project(const std::filesystem::path& folder);

}  // namespace handoff::lab
