// SPDX-License-Identifier: MIT
//
// The whole library in one include.
//
//   #include <handoff/handoff.hpp>
//
// For: a first try, small programs, a precompiled header. Not for: headers of your own; what these
//   include, each of their users compiles: include the one header of the type you use.
// Cost: about 1.7 times that of <future> (tests/house/header_budget.py counts it).
#pragma once

#include <handoff/bus/active_object.hpp>
#include <handoff/bus/active_object_options.hpp>
#include <handoff/bus/broadcast.hpp>
#include <handoff/bus/broadcast_consumer.hpp>
#include <handoff/bus/broadcast_options.hpp>
#include <handoff/bus/broadcast_policies.hpp>
#include <handoff/bus/bus_policies.hpp>
#include <handoff/bus/latest.hpp>
#include <handoff/bus/latest_by_key.hpp>
#include <handoff/bus/message_bus.hpp>
#include <handoff/bus/message_bus_options.hpp>
#include <handoff/bus/message_meta.hpp>
#include <handoff/bus/message_workers.hpp>
#include <handoff/bus/message_workers_options.hpp>
#include <handoff/bus/request.hpp>
#include <handoff/bus/topic.hpp>
#include <handoff/bus/worker_health.hpp>
#include <handoff/command/command_aux.hpp>
#include <handoff/command/command_bucket.hpp>
#include <handoff/command/command_log.hpp>
#include <handoff/command/command_options.hpp>
#include <handoff/command/command_recorder.hpp>
#include <handoff/command/command_statistics.hpp>
#include <handoff/command/hash_backend.hpp>
#include <handoff/command/sort_key.hpp>
#include <handoff/config.hpp>
#include <handoff/core/bulk.hpp>
#include <handoff/core/closing.hpp>
#include <handoff/core/copyable_function.hpp>
#include <handoff/core/executor.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/future_sender.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/inline_executor.hpp>
#include <handoff/core/kernel.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/core/on_full.hpp>
#include <handoff/core/overloaded.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/core/priority.hpp>
#include <handoff/core/run_options.hpp>
#include <handoff/core/sender_words.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/to_std.hpp>
#include <handoff/core/unique_function.hpp>
#include <handoff/core/until.hpp>
#include <handoff/core/when_all.hpp>
#include <handoff/event/any_data.hpp>
#include <handoff/event/any_id.hpp>
#include <handoff/event/argument_adapter.hpp>
#include <handoff/event/callback_list.hpp>
#include <handoff/event/event_dispatcher.hpp>
#include <handoff/event/event_policies.hpp>
#include <handoff/event/event_queue.hpp>
#include <handoff/event/event_queue_options.hpp>
#include <handoff/event/listener_handle.hpp>
#include <handoff/event/listener_options.hpp>
#include <handoff/event/next.hpp>
#include <handoff/event/queued_event.hpp>
#include <handoff/event/typed_event.hpp>
#include <handoff/memory/arena_resource.hpp>
#include <handoff/memory/frame.hpp>
#include <handoff/memory/linear_arena.hpp>
#include <handoff/memory/thread_arenas.hpp>
#include <handoff/pool/blocking.hpp>
#include <handoff/pool/coroutine.hpp>
#include <handoff/pool/parallel_for.hpp>
#include <handoff/pool/per_worker.hpp>
#include <handoff/pool/pool_mode.hpp>
#include <handoff/pool/scheduler.hpp>
#include <handoff/pool/statistics.hpp>
#include <handoff/pool/submit_std.hpp>
#include <handoff/pool/task_failure.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/task_options.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/pool/thread_pool_options.hpp>
#include <handoff/pool/timer_handle.hpp>
#include <handoff/pool/wait_cycle.hpp>
#include <handoff/queue/channel.hpp>
#include <handoff/queue/mpmc_ring.hpp>
#include <handoff/queue/mpsc_ring.hpp>
#include <handoff/queue/segment_queue.hpp>
#include <handoff/queue/select.hpp>
#include <handoff/queue/spsc_ring.hpp>
#include <handoff/queue/steal_deque.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/cpu_budget.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/mutex.hpp>
#include <handoff/sync/stop_token.hpp>
#include <handoff/team/thread_team.hpp>
#include <handoff/version.hpp>
