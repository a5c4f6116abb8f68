// SPDX-License-Identifier: MIT
//
// All parallel algorithms over ranges and iterators (docs/guide/algorithms.md).
#pragma once

#include <handoff/graph/algorithm_options.hpp>
#include <handoff/graph/find.hpp>
#include <handoff/graph/for_each.hpp>
#include <handoff/graph/merge.hpp>
#include <handoff/graph/partition.hpp>
#include <handoff/graph/reduce.hpp>
#include <handoff/graph/scan.hpp>
#include <handoff/graph/sort.hpp>
