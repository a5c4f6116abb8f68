// SPDX-License-Identifier: MIT
// What a contender of `spawn` writes: one function that makes a way to start a thread.
#pragma once

#include <functional>

#include "harness/contender.hpp"
#include "scenarios/spawn/work.hpp"

namespace handoff::lab::spawn {

// Starts a thread that calls word.store() once, and returns when that thread has ended.
using Operation = std::function<void(Word& word)>;
Operation contender();

}  // namespace handoff::lab::spawn
