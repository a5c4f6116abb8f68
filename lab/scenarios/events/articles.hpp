// SPDX-License-Identifier: MIT
// The tables of the article on eventpp's bottlenecks, in the cells that stand for them here.
#pragma once

#include <vector>

#include "harness/scenario.hpp"

namespace handoff::lab::events {

std::vector<Article> articles_of_eventpp();

}  // namespace handoff::lab::events
