// SPDX-License-Identifier: MIT
// What `handoff advise` must know of the work: from flags, or asked one by one on a terminal.
#pragma once

#include "commands/options.hpp"
#include "report/advice.hpp"

namespace handoff::lab {

// Throws UserError.
[[nodiscard]] Question question_of(const AdviseOptions& options);

// Whether a flag says anything of the work.
[[nodiscard]] bool has_answers(const AdviseOptions& options);

[[nodiscard]] bool is_at_a_terminal();

// A line without its end; nothing at the end of the input. Throws Interrupted.
[[nodiscard]] std::optional<std::string> line_of_terminal(Interrupt& interrupt);

// Asks, each with its default, and completes the options. False: the person leaves.
[[nodiscard]] bool ask_all(AdviseOptions& options);

}  // namespace handoff::lab
