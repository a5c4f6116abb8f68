// SPDX-License-Identifier: MIT
// The program's commands, each in its file. They return the exit code, and throw UserError, or
// Interrupted where they measure.
#pragma once

#include "commands/options.hpp"
#include "harness/scenario.hpp"

namespace handoff::lab {

int advise(const AdviseOptions& options);
int check_advice(const CheckAdviceOptions& options);
int compare(const CompareOptions& options);
// Becomes that program, with the arguments from argv[2] on.
[[noreturn]] void copy(char** argv);
int doctor(const DoctorOptions& options);
int export_result(const ExportOptions& options);
int gate(const GateOptions& options);
int list(const ListOptions& options);
int look_for_races(const TryOptions& options);  // try_races.cpp
// All of its files or none, and never over one that is there.
void make_try_project(const std::filesystem::path& folder);  // new_project.cpp
int replay_trace(const ReplayOptions& options);
int report(const ReportOptions& options);
int run(const RunOptions& options);
int scale(const ScaleOptions& options);
int show_trace(const TraceOptions& options);

// `handoff try`: the user's own loop under every way, or a project with such a loop.
// Returns the exit code. Throws UserError, Interrupted.
int try_kernel(const TryOptions& options);

// What was asked for, checked. Throw UserError.
std::chrono::nanoseconds try_limit_of(const TryOptions& options);
Cell try_cell_of(const Scenario& trial, const TryOptions& options);

}  // namespace handoff::lab
