// SPDX-License-Identifier: MIT
//
// Places where a tracer may look into the library while it runs: user-level statically defined
// tracing (USDT), which bpftrace, perf and SystemTap know.
//
//   bpftrace -e 'usdt:./program:handoff:task_end { @tasks[arg0] = count(); }'
//
// A probe is a `nop` and a note in the file until a tracer turns it on. It needs <sys/sdt.h>
// (Debian: systemtap-sdt-dev) where the library is built, and nothing where it runs; without it
// there are no probes. docs/guide/pools.md lists them; a test compares that list with the notes.
// Source: https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation
#pragma once

#if __has_include(<sys/sdt.h>) && !defined(HANDOFF_EXPLORE)
#define SDT_USE_VARIADIC
#include <sys/sdt.h>
#define HANDOFF_PROBE(name, ...) STAP_PROBEV(handoff, name, __VA_ARGS__)
#else
#define HANDOFF_PROBE(...) static_cast<void>(0)
#endif
