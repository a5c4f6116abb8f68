// SPDX-License-Identifier: MIT
//
// The stages of a Pipeline, and an item's way through them. Not for users.
//
// The way is one function that the compiler makes of all stages: nothing is called indirectly
// between two of them. An item that waited at a door goes on behind it, by a table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/status.hpp>
#include <handoff/graph/detail/pipeline_core.hpp>
#include <handoff/graph/detail/pipeline_door.hpp>
#include <handoff/graph/detail/pipeline_source.hpp>
#include <handoff/graph/pipeline_failed.hpp>
#include <handoff/graph/pipeline_options.hpp>
#include <handoff/pool/blocking.hpp>
#include <handoff/sync/internal/sanitizer.hpp>
#include <handoff/sync/mutex.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <StageOrder order, class F>
struct Stage {
  static constexpr StageOrder kOrder = order;
  using Function = F;

  F function;
  const char* name;
};

// Whether the channel at the end has taken the item.
enum class Sunk : bool { no, yes };

template <class C>
struct ChannelSink {
  template <class T>
  Sunk operator()(T&& item) {
    Status said = channel.try_push(std::forward<T>(item));
    if (said == Status::full) {
      said = blocking([&] { return channel.push(std::forward<T>(item), core.sink_until()); });
    }
    return Sunk{said == Status::ok};
  }

  C& channel;
  const PipelineCore& core;
};

// What the constructor is given for a stage, and what becomes of it.
template <class Given>
struct StageOf {
  static_assert(ChannelLike<std::remove_cvref_t<Given>>,
                "Pipeline: stages are made by parallel_stage(), serial_stage(), ordered_stage(); "
                "the last one may be a channel");
  static_assert(std::is_lvalue_reference_v<Given>, "a pipeline refers to its channel");
  using Type = Stage<StageOrder::in_order, ChannelSink<std::remove_reference_t<Given>>>;
  static Type make(Given given, const PipelineCore& core) { return {{given, core}, "channel"}; }
  static void end(Given given) noexcept { given.close(); }
};
template <class Given>
  requires requires { std::remove_cvref_t<Given>::kOrder; }
struct StageOf<Given> {
  using Type = std::remove_cvref_t<Given>;
  static Type make(Given&& given, const PipelineCore& /*unused*/) {
    return std::forward<Given>(given);
  }
};

// What a token carries to each stage: the source's item, or what the stage before returned.
template <std::size_t I, class In, class... Stages>
struct CarriedTo {
  using Type = In;
};
template <std::size_t I, class In, class First, class... Rest>
  requires(I > 0)
struct CarriedTo<I, In, First, Rest...> {
  using Made = typename StageResult<typename First::Function, In>::Type;
  using Type = typename CarriedTo<I - 1, Made, Rest...>::Type;
};

constexpr std::size_t largest(std::initializer_list<std::size_t> sizes) noexcept {
  std::size_t most = 1;
  for (const std::size_t size : sizes) most = most < size ? size : most;
  return most;
}

template <class E, class Source, class... Given>
class PipelineLine : public PipelineCore {
  using Input = PipelineSource<Source>;
  using Item = typename Input::Item;
  using Stages = std::tuple<typename StageOf<Given>::Type...>;
  static constexpr std::size_t kStages = sizeof...(Given);
  static_assert(kStages > 0, "Pipeline: it needs a stage");
  static constexpr bool kPushed = is_pushed<std::remove_cvref_t<Source>>;

  template <std::size_t I>
  using StageAt = std::tuple_element_t<I, Stages>;
  template <std::size_t I>
  static constexpr StageOrder kOrder = StageAt<I>::kOrder;
  template <std::size_t I>
  using In = typename CarriedTo<I, Item, typename StageOf<Given>::Type...>::Type;

  template <class Sequence>
  struct RoomFor;
  template <std::size_t... I>
  struct RoomFor<std::index_sequence<I...>> {
    alignas(In<I>...) std::byte bytes[largest({sizeof(In<I>)...})];
  };

  // A stage makes its result in one room, of what lies in the other one.
  struct Token : PipelineToken {
    RoomFor<std::make_index_sequence<kStages>> rooms[2];
  };

 public:
  PipelineLine(E& executor, const PipelineOptions& options, Source&& source, Given&&... given)
      : PipelineCore({&PipelineLine::work_all, &PipelineLine::hand_over, &PipelineLine::end_sink},
                     options, static_cast<std::size_t>(executor.width()), kPushed),
        executor_(executor),
        source_(std::forward<Source>(source)),
        stages_(StageOf<Given>::make(std::forward<Given>(given), *this)...),
        sink_(last_of(given...)),
        tokens_(new Token[tokens()]) {
    for (std::size_t i = 0; i < kStages; ++i) doors_[i].open(ring());
    for (std::size_t i = tokens(); i > 0; --i) put_free(tokens_[i - 1]);
  }
  ~PipelineLine() { end(); }

  template <class From>
  Status try_push(From&& item) {
    const sync::Lock lock(pushing());
    if (is_source_over()) return Status::closed;
    if (const Outcome wished = wish(); wished != Outcome::done) [[unlikely]] {
      end_source(wished);
      return Status::closed;
    }
    PipelineMember nobody;
    auto* const token = static_cast<Token*>(take_free(nobody));
    if (token == nullptr) return Status::full;
    sync::taken(token);
    call_or([&] { ::new (token->rooms[0].bytes) Item(std::forward<From>(item)); },
            [&]() noexcept { put_free(*token); });
    begin_item(*token);
    sync::given(token);
    make_ready(*token, kStages);
    return Status::ok;
  }

 private:
  // --- What the core calls. ---

  static void work_all(PipelineCore& core, PipelineMember& member) noexcept {
    auto& line = static_cast<PipelineLine&>(core);
    do {
      for (;;) {
        if (PipelineToken* const token = line.take_ready()) {
          ++member.taken;
          sync::taken(token);
          line.resume(member, static_cast<Token&>(*token));
        } else if (!line.pull(member) && !line.await_source(member)) {
          break;
        }
      }
      sync::given(sync::end_of(&core));
    } while (!line.leave(member));
  }

  static Status hand_over(PipelineCore& core, Call& call) {
    return static_cast<PipelineLine&>(core).executor_.try_post(std::move(call));
  }

  static void end_sink(PipelineCore& core) noexcept {
    if constexpr (kHasSink) static_cast<PipelineLine&>(core).sink_->close();
  }

  // --- The source. ---

  // False: there is none to be had here and now.
  bool pull(PipelineMember& member) noexcept {
    if constexpr (kPushed) {
      return false;
    } else {
      if (!enter_source()) return false;
      Token* const token = begin(member);
      leave_source();
      if (token == nullptr) return false;
      invite();
      ++member.taken;
      advance<0>(member, *token);
      return true;
    }
  }

  Token* begin(PipelineMember& member) noexcept {
    if (is_source_over()) return nullptr;
    auto* const token = static_cast<Token*>(take_free(member));
    if (token == nullptr) return nullptr;
    sync::taken(token);
    bool is_there = false;
    if (wish() == Outcome::done) {
      attempt(
          [&] {
            std::optional<Item> item = source_.next(source_until());
            if (!item.has_value()) return;
            ::new (token->rooms[0].bytes) Item(*std::move(item));
            is_there = true;
          },
          [&]() noexcept {
            fail(items(), PipelineFailed::source, "");
            begin_item(*token);  // as one that failed, so that it counts
            ++member.failed;
          });
    }
    if (!is_there) {
      end_source(wish());
      member.hand = token;
      return nullptr;
    }
    begin_item(*token);
    return token;
  }

  // --- The way of an item. ---

  using Resume = void (PipelineLine::*)(PipelineMember&, Token&) noexcept;
  template <std::size_t... I>
  static constexpr std::array<Resume, kStages + 1> resumes(std::index_sequence<I...>) {
    return {&PipelineLine::pass<I>..., &PipelineLine::advance<0>};
  }
  void resume(PipelineMember& member, Token& token) noexcept {
    static constexpr auto table = resumes(std::make_index_sequence<kStages>());
    (this->*table[token.stage])(member, token);
  }

  // To the door of stage I, and on. Behind the call the token may be another member's.
  template <std::size_t I>
  void advance(PipelineMember& member, Token& token) noexcept {
    if constexpr (I == kStages) {
      finish(member, token);
    } else {
      if constexpr (kOrder<I> != StageOrder::parallel) {
        // Numbers are drawn for items only; in order all come, or the turn would stay with one.
        if (kOrder<I> == StageOrder::serial && !token.is_there) {
          return advance<I + 1>(member, token);
        }
        if constexpr (kOrder<I> == StageOrder::serial) token.ticket = doors_[I].draw();
        if (!doors_[I].arrive(token, number_at<I>(token))) return;
      }
      pass<I>(member, token);
    }
  }

  template <std::size_t I>
  static std::uint64_t number_at(const Token& token) noexcept {
    return kOrder<I> == StageOrder::serial ? token.ticket : token.item;
  }

  // Through stage I, whose turn is the caller's, and on.
  template <std::size_t I>
  void pass(PipelineMember& member, Token& token) noexcept {
    if constexpr (kOrder<I> == StageOrder::parallel) {
      call<I>(member, token);
      advance<I + 1>(member, token);
    } else if constexpr (I + 1 == kStages) {
      // Nothing is behind it: who has the turn keeps it as long as the next one waits.
      Token* here = &token;
      do {
        call<I>(member, *here);
        auto* const next = static_cast<Token*>(doors_[I].leave(number_at<I>(*here)));
        finish(member, *here);
        here = next;
      } while (here != nullptr);
    } else {
      call<I>(member, token);
      PipelineToken* const next = doors_[I].leave(number_at<I>(token));
      if (next != nullptr) {
        sync::given(next);
        make_ready(*next, I);
      }
      advance<I + 1>(member, token);
    }
  }

  void finish(PipelineMember& member, Token& token) noexcept {
    if (token.is_there) ++member.done;
    sync::given(&token);
    if (kPushed || member.hand != nullptr) return put_free(token);
    member.hand = &token;
  }

  template <class T>
  static T& value(Token& token, std::size_t room) noexcept {
    return *std::launder(reinterpret_cast<T*>(token.rooms[room % 2].bytes));
  }

  template <std::size_t I>
  void call(PipelineMember& member, Token& token) noexcept {
    if (!token.is_there) return;
    In<I>& in = value<In<I>>(token, I);
    Outcome outcome = wish();
    if (outcome == Outcome::done) {
      attempt([&] { outcome = step<I>(token, in); },
              [&]() noexcept {
                fail(token.item, I, std::get<I>(stages_).name);
                outcome = Outcome::failed;
              });
    }
    std::destroy_at(&in);
    if (outcome == Outcome::done) return;
    token.is_there = false;
    switch (outcome) {
      case Outcome::failed: ++member.failed; break;
      case Outcome::cancelled: ++member.cancelled; break;
      case Outcome::expired: ++member.expired; break;
      default: ++member.done; break;  // dropped by the stage
    }
  }

  // done: what the stage made is there. elsewhere: it dropped the item.
  template <std::size_t I>
  Outcome step(Token& token, In<I>& in) {
    auto& function = std::get<I>(stages_).function;
    using Result = StageResult<typename StageAt<I>::Function, In<I>>;
    using Returned = typename Result::Returned;
    if constexpr (I + 1 == kStages) {
      return each_part(in, [&](auto& part) {
        if constexpr (std::is_same_v<Returned, Sunk>) {
          if (call_stage(function, part) == Sunk::no) return give_up();
        } else {
          static_cast<void>(call_stage(function, part));
        }
        return Outcome::done;
      });
    } else {
      static_assert(!std::is_void_v<Returned>,
                    "Pipeline: only the last stage may return nothing; one that filters returns a "
                    "std::optional");
      void* const room = token.rooms[(I + 1) % 2].bytes;
      using Out = In<I + 1>;
      if constexpr (Result::is_many) {
        Out all;
        (void)each_part(in, [&](auto& part) {
          append(all, call_stage(function, part));
          return Outcome::done;
        });
        if (all.parts().empty()) return Outcome::elsewhere;
        ::new (room) Out(std::move(all));
      } else if constexpr (is_optional<Returned>) {
        auto&& made = call_stage(function, in);
        if (!made.has_value()) return Outcome::elsewhere;
        ::new (room) Out(*std::forward<decltype(made)>(made));
      } else {
        ::new (room) Out(call_stage(function, in));
      }
      return Outcome::done;
    }
  }

  template <class T, class Do>
  static Outcome each_part(T& in, Do&& act) {
    if constexpr (Carried<T>::is_many) {
      for (auto& part : in.parts()) {
        const Outcome outcome = act(part);
        if (outcome != Outcome::done) return outcome;
      }
      return Outcome::done;
    } else {
      return act(in);
    }
  }

  template <class T, class Made>
  static void append(Several<T>& all, Made&& made) {
    if constexpr (is_several<std::remove_cvref_t<Made>>) {
      if (all.parts().empty()) {
        all = std::forward<Made>(made);
      } else {
        for (auto& part : made.parts()) all.push_back(std::move(part));
      }
    } else if constexpr (is_optional<std::remove_cvref_t<Made>>) {
      if (made.has_value()) all.push_back(*std::forward<Made>(made));
    } else {
      all.push_back(std::forward<Made>(made));
    }
  }

  using Last = std::tuple_element_t<kStages - 1, std::tuple<Given...>>;
  static constexpr bool kHasSink = ChannelLike<std::remove_cvref_t<Last>>;
  template <class... G>
  static auto last_of(G&... given) noexcept {
    if constexpr (kHasSink) {
      return &std::get<kStages - 1>(std::tie(given...));
    } else {
      return nullptr;
    }
  }

  E& executor_;
  Input source_;
  Stages stages_;
  std::conditional_t<kHasSink, std::remove_reference_t<Last>*, std::nullptr_t> sink_;
  std::array<PipelineDoor, kStages> doors_;
  const std::unique_ptr<Token[]> tokens_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
