// SPDX-License-Identifier: MIT
// One operation of each kind of work: what is timed, and what is done around it.
#pragma once

#include "scenarios/files/disk.hpp"

namespace handoff::lab::files {

// What an operation needs, for as long as it is repeated.
struct Bench {
  Task task;
  std::unique_ptr<TemporaryFolder> folder;
  std::unique_ptr<Way> way;
  Report report;
  std::uint64_t operations = 0;
  std::uint64_t generation = 0;  // unlike that of any other launch

  struct Times {
    double wall_ms = 0;
    double clock_ms = 0;  // by clock(), which the article used
  };
  // Times it: as the burst's time, and in CPU seconds for 1 GB.
  Times timed(Burst& burst, double bytes, const std::function<void()>& work);
};

Operation transfer_of(Bench& bench);  // write_new, overwrite, read_cold, read_warm, article
Operation small_of(Bench& bench);
Operation new_files_of(Bench& bench);
Operation one_file_of(Bench& bench);
Operation random_of(Bench& bench);
Operation append_of(Bench& bench);
Operation copy_of(Bench& bench);

}  // namespace handoff::lab::files
