// SPDX-License-Identifier: MIT
// What is known of a way by its name: what to write, what it promises, what it cannot do.
#pragma once

#include "report/advice.hpp"

namespace handoff::lab {

// "handoff::ThreadTeam: run()"; empty where that is another library's affair.
[[nodiscard]] std::string call_of_way(const std::string& name, const Question& question);
// A line to paste.
[[nodiscard]] std::string code_of_way(const std::string& name, const Question& question);
// What of the question rules it out whatever it costs, or nothing. `order` is that of its row.
[[nodiscard]] std::string fault_of_way(const std::string& name, const std::string& order,
                                       const Question& question);

}  // namespace handoff::lab
