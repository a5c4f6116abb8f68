// SPDX-License-Identifier: MIT
//
// A node's function, where its inputs come from, and how it is called with them. Not for users.
#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/status.hpp>
#include <handoff/graph/detail/graph_core.hpp>
#include <handoff/graph/detail/graph_run.hpp>
#include <handoff/graph/node_context.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class... Ts>
struct TypeList {};

// The parameters of a function, or of a class with one call operator; void: not known.
template <class Call>
struct ParametersOfCall {
  using type = void;
};
template <class R, class... Ps>
struct ParametersOfCall<R (*)(Ps...)> {
  using type = TypeList<Ps...>;
};
template <class R, class... Ps>
struct ParametersOfCall<R (*)(Ps...) noexcept> : ParametersOfCall<R (*)(Ps...)> {};
template <class R, class C, class... Ps>
struct ParametersOfCall<R (C::*)(Ps...)> : ParametersOfCall<R (*)(Ps...)> {};
template <class R, class C, class... Ps>
struct ParametersOfCall<R (C::*)(Ps...) const> : ParametersOfCall<R (*)(Ps...)> {};
template <class R, class C, class... Ps>
struct ParametersOfCall<R (C::*)(Ps...) noexcept> : ParametersOfCall<R (*)(Ps...)> {};
template <class R, class C, class... Ps>
struct ParametersOfCall<R (C::*)(Ps...) const noexcept> : ParametersOfCall<R (*)(Ps...)> {};

template <class F>
struct ParametersOf : ParametersOfCall<F> {};
template <class F>
  requires requires { &F::operator(); }
struct ParametersOf<F> : ParametersOfCall<decltype(&F::operator())> {};

// Whether a parameter P is to get a T of its own: what converts only looks at it.
template <class P, class T>
inline constexpr bool takes_own =
    !std::is_lvalue_reference_v<P> &&
    (std::is_same_v<std::remove_cvref_t<P>, T> || !std::is_copy_constructible_v<T>);

// What a node reads, while it is called.
template <class T, bool kTaken>
class NodeInput {  // shared
 public:
  using Type = const T&;
  NodeInput(const NodeContext& here, NodeId id)
      : value_(*static_cast<const T*>(here.run_.input(here.id_, id))) {}
  const T& get() const noexcept { return value_; }

 private:
  const T& value_;
};
template <class T>
class NodeInput<T, true> {
 public:
  using Type = T&&;
  NodeInput(const NodeContext& here, NodeId id)
      : value_(make(here, *static_cast<T*>(here.run_.input(here.id_, id)), id)) {}
  T&& get() noexcept { return std::move(value_); }

 private:
  static T make(const NodeContext& here, T& value, NodeId id) {
    if constexpr (std::is_copy_constructible_v<T>) {
      if (!here.is_last_try_ || !here.run_.is_last_reader(id)) return T(std::as_const(value));
    }
    return T(std::move(value));
  }
  T value_;
};

// Inputs without the void ones.
template <class List, class... Ts>
struct ValuesOf {
  using type = List;
};
template <class... Vs, class T, class... Ts>
struct ValuesOf<TypeList<Vs...>, T, Ts...> : ValuesOf<TypeList<Vs..., T>, Ts...> {};
template <class... Vs, class... Ts>
struct ValuesOf<TypeList<Vs...>, void, Ts...> : ValuesOf<TypeList<Vs...>, Ts...> {};

// How a function is called: with a context or not, taking which of the values.
template <bool kIs, bool kContext, bool... kTaken>
struct CallForm {
  static constexpr bool is_call = kIs;
  static constexpr bool with_context = kContext;
  static constexpr std::array<bool, sizeof...(kTaken) + 1> taken{kTaken..., false};
};

template <class F, class Values, class Parameters>
struct FormOf;  // parameters that are known
template <class F, class... Ts, class... Ps>
  requires(sizeof...(Ts) == sizeof...(Ps))
struct FormOf<F, TypeList<Ts...>, TypeList<Ps...>>
    : CallForm<std::is_invocable_v<F&, typename NodeInput<Ts, takes_own<Ps, Ts>>::Type...>, false,
               takes_own<Ps, Ts>...> {};
template <class F, class... Ts, class... Ps>
  requires(sizeof...(Ts) == sizeof...(Ps))
struct FormOf<F, TypeList<Ts...>, TypeList<NodeContext&, Ps...>>
    : CallForm<
          std::is_invocable_v<F&, NodeContext&, typename NodeInput<Ts, takes_own<Ps, Ts>>::Type...>,
          true, takes_own<Ps, Ts>...> {};
// Not known, or defaulted: const references where they do. Asks no more than it has to: an answer
// may take the body of the function, where what does not fit is an error.
template <class F, class... Ts>
constexpr auto form_of_any() noexcept {
  if constexpr (std::is_invocable_v<F&, const Ts&...>) {
    return CallForm<true, false, std::is_void_v<Ts>...>();
  } else if constexpr (std::is_invocable_v<F&, NodeContext&, const Ts&...>) {
    return CallForm<true, true, std::is_void_v<Ts>...>();
  } else {
    return CallForm<std::is_invocable_v<F&, Ts&&...>, false, !std::is_void_v<Ts>...>();
  }
}
template <class F, class... Ts, class Parameters>
struct FormOf<F, TypeList<Ts...>, Parameters> : decltype(form_of_any<F, Ts...>()) {};

template <class F, class Values, class Form>
struct CallOf;

template <class F, class... Ts, class Form>
struct CallOf<F, TypeList<Ts...>, Form> {
  static constexpr std::size_t count = sizeof...(Ts);

  static decltype(auto) call(F& function, NodeContext& here, const std::array<NodeId, count>& ids) {
    return call_with(function, here, ids, std::index_sequence_for<Ts...>());
  }
  template <std::size_t... kIs>
  static decltype(auto) call_with(F& function, [[maybe_unused]] NodeContext& here,
                                  [[maybe_unused]] const std::array<NodeId, count>& ids,
                                  std::index_sequence<kIs...> /*all*/) {
    if constexpr (Form::with_context) {
      return detail::invoke(function, here,
                            NodeInput<Ts, Form::taken[kIs]>(here, ids[kIs]).get()...);
    } else {
      return detail::invoke(function, NodeInput<Ts, Form::taken[kIs]>(here, ids[kIs]).get()...);
    }
  }
};

template <class F, class... Inputs>
struct NodeClosure {
  using Values = typename ValuesOf<TypeList<>, Inputs...>::type;
  using Form = FormOf<F, Values, typename ParametersOf<F>::type>;
  using Call = CallOf<F, Values, Form>;
  static constexpr bool is_node = Form::is_call;

  static auto result() {
    if constexpr (is_node) {
      return std::type_identity<std::decay_t<decltype(Call::call(
          std::declval<F&>(), std::declval<NodeContext&>(), {}))>>();
    } else {
      return std::type_identity<void>();
    }
  }
  using Value = typename decltype(result())::type;

  template <class Given>
  static GraphNodeRecord record(Given&& function,
                                const std::array<NodeId, sizeof...(Inputs)>& ids) {
    GraphNodeRecord made;
    made.inputs.reserve(sizeof...(Inputs));
    auto closure = std::make_unique<NodeClosure>(std::forward<Given>(function));
    std::size_t input = 0;
    std::size_t value = 0;
    [[maybe_unused]] const auto add = [&](bool is_read) {
      const NodeId id = ids[input++];
      made.inputs.push_back({.id = id, .is_read = is_read});
      if (!is_read) return;
      made.inputs.back().is_taken = Form::taken[value];
      closure->ids[value++] = id;
    };
    (add(!std::is_void_v<Inputs>), ...);
    made.call = &call;
    if constexpr (!std::is_void_v<Value>) {
      made.value = {.bytes = sizeof(Value),
                    .alignment = alignof(Value),
                    .is_copyable = std::is_copy_constructible_v<Value>,
                    .destroy = [](void* held) noexcept { static_cast<Value*>(held)->~Value(); }};
    }
    made.closure = {closure.release(),
                    [](void* self) noexcept { delete static_cast<NodeClosure*>(self); }};
    return made;
  }

  template <class Given>  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload)
  explicit NodeClosure(Given&& given) : function(std::forward<Given>(given)) {}

  static void call(void* self, NodeContext& here) noexcept {
    auto& own = *static_cast<NodeClosure*>(self);
    const auto run = [&own, &here] {
      if constexpr (std::is_void_v<Value>) {
        Call::call(own.function, here, own.ids);
      } else {
        auto* const made =
            ::new (here.run_.room_for(here.id_)) Value(Call::call(own.function, here, own.ids));
        if constexpr (std::is_integral_v<Value>) here.chosen_ = static_cast<std::size_t>(*made);
        here.run_.has_made_value(here.id_);
      }
    };
    (void)attempt(run, [&here]() noexcept { here.fail(); });
  }

  F function;
  std::array<NodeId, Call::count> ids{};
};

// A graph as a node of another.
class GraphPart {
 public:
  explicit GraphPart(GraphCore& core) noexcept : core_(&core) { core.retain(); }
  GraphPart(GraphPart&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  GraphPart& operator=(GraphPart&&) = delete;
  ~GraphPart() {
    if (core_ != nullptr) core_->release();
  }
  void operator()(NodeContext& here) const;

 private:
  GraphCore* core_;
};

// What an executor is given. Dropped or refused, it says so to the run.
class GraphHelper {
 public:
  explicit GraphHelper(GraphExecution& run) noexcept : run_(&run) { run.retain(); }
  GraphHelper(GraphHelper&& other) noexcept : run_(std::exchange(other.run_, nullptr)) {}
  GraphHelper& operator=(GraphHelper&& other) noexcept {
    std::swap(run_, other.run_);
    return *this;
  }
  ~GraphHelper() {
    if (run_ != nullptr) drop();
  }
  void operator()() noexcept {
    GraphExecution& run = *std::exchange(run_, nullptr);
    run.help();
    run.release();
  }

 private:
  void drop() noexcept {
    run_->lose_helper();
    run_->release();
  }

  GraphExecution* run_;
};

template <class E>
GraphHost host_of(E& executor) {
  return {.executor = const_cast<void*>(static_cast<const void*>(&executor)),
          .width = static_cast<std::size_t>(executor.width()),
          .post = [](void* host, GraphExecution& run) noexcept {
            bool taken = false;
            const auto hand_over = [&] {
              taken = static_cast<E*>(host)->try_post(GraphHelper(run)) == Status::ok;
            };
            return attempt(hand_over) && taken;
          }};
}

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
