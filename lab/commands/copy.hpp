// SPDX-License-Identifier: MIT
// `handoff copy`: the program handoff-copy that stands beside this one, or in the path.
#pragma once

namespace handoff::lab {

// Becomes that program, with the arguments from argv[2] on. Returns never; throws UserError if it
// is not there.
[[noreturn]] void copy(char** argv);

}  // namespace handoff::lab
