// SPDX-License-Identifier: MIT
// The table of the article on parallel IO, beside both clocks of this machine.
#pragma once

#include <vector>

#include "harness/scenario.hpp"

namespace handoff::lab::files {

std::vector<Article> articles_of_files();

}  // namespace handoff::lab::files
