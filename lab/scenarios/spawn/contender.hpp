// SPDX-License-Identifier: MIT
// What a contender of `spawn` writes that starts threads: one function that makes a way to do so.
// Those that start processes have workers.hpp, those that map memory have mapping.hpp, and a
// prepare() of their own.
#pragma once

#include <functional>

#include "harness/contender.hpp"
#include "scenarios/spawn/work.hpp"

namespace handoff::lab::spawn {

// Starts a thread that calls word.store() once, and returns when that thread has ended.
using Operation = std::function<void(Word& word)>;
Operation contender();

}  // namespace handoff::lab::spawn
