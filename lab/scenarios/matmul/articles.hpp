// SPDX-License-Identifier: MIT
// The tables of the article on parallel matrix multiplication, in the cells that stand for them.
#pragma once

#include <vector>

#include "harness/scenario.hpp"

namespace handoff::lab::matmul {

std::vector<Article> articles_of_matrices();

}  // namespace handoff::lab::matmul
