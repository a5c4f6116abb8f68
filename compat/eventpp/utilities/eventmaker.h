// SPDX-License-Identifier: MIT
//
// eventpp's macros that write event classes.
//
//   EVENTPP_MAKE_EVENT(EventDraw, Event, EventType::draw,
//                      (std::string, getText, setText), (int, getX));
//   EVENTPP_MAKE_EMPTY_EVENT(EventQuit, Event, EventType::quit);
//
// For: programs written against eventpp. Not for: new ones, which write a struct.
// A class has a constructor without arguments, one that takes all members, a getter for each and a
// setter where one is named. A base class or its arguments with commas stand in parentheses.
// Source: the interface is that of github.com/wqking/eventpp, as its documentation describes it.
#pragma once

#include <type_traits>

namespace eventpp::internal {

// How a member is passed: a small plain one as it is.
template <class T>
using EventMember = std::conditional_t<std::is_scalar_v<T>, T, const T&>;

}  // namespace eventpp::internal

// x, or what is in its parentheses.
#define EVENTPP_I_BARE(x) EVENTPP_I_GLUE(EVENTPP_I_OPEN x)
#define EVENTPP_I_OPEN(...) EVENTPP_I_OPEN __VA_ARGS__
#define EVENTPP_I_GLUE(...) EVENTPP_I_GLUE_2(__VA_ARGS__)
#define EVENTPP_I_GLUE_2(...) EVENTPP_I_GONE_##__VA_ARGS__
#define EVENTPP_I_GONE_EVENTPP_I_OPEN

// macro(field) for each field, up to 64 of them.
#define EVENTPP_I_EACH(macro, ...) \
  __VA_OPT__(EVENTPP_I_SCAN_64(EVENTPP_I_EACH_STEP(macro, __VA_ARGS__)))
#define EVENTPP_I_EACH_STEP(macro, field, ...) \
  macro field __VA_OPT__(EVENTPP_I_EACH_AGAIN EVENTPP_I_NONE()(macro, __VA_ARGS__))
#define EVENTPP_I_EACH_AGAIN() EVENTPP_I_EACH_STEP
#define EVENTPP_I_NONE() ()
#define EVENTPP_I_SCAN_64(...) \
  EVENTPP_I_SCAN_16(EVENTPP_I_SCAN_16(EVENTPP_I_SCAN_16(EVENTPP_I_SCAN_16(__VA_ARGS__))))
#define EVENTPP_I_SCAN_16(...) \
  EVENTPP_I_SCAN_4(EVENTPP_I_SCAN_4(EVENTPP_I_SCAN_4(EVENTPP_I_SCAN_4(__VA_ARGS__))))
#define EVENTPP_I_SCAN_4(...) \
  EVENTPP_I_SCAN(EVENTPP_I_SCAN(EVENTPP_I_SCAN(EVENTPP_I_SCAN(__VA_ARGS__))))
#define EVENTPP_I_SCAN(...) __VA_ARGS__

#define EVENTPP_I_PARAMETER(type, getter, ...) ::eventpp::internal::EventMember<type> getter##_value
#define EVENTPP_I_NEXT_PARAMETER(type, getter, ...) \
  , ::eventpp::internal::EventMember<type> getter##_value
#define EVENTPP_I_INITIALISER(type, getter, ...) , getter##_member(getter##_value)
#define EVENTPP_I_EMPTY_INITIALISER(type, getter, ...) , getter##_member()
#define EVENTPP_I_MEMBER(type, getter, ...) type getter##_member;
#define EVENTPP_I_ACCESS(type, getter, ...)                                         \
  ::eventpp::internal::EventMember<type> getter() const { return getter##_member; } \
  __VA_OPT__(                                                                       \
      void __VA_ARGS__(::eventpp::internal::EventMember<type> value) { getter##_member = value; })

#define EVENTPP_MAKE_EVENT(className, baseClassName, baseClassArgs, firstField, ...)               \
  class className : public EVENTPP_I_BARE(baseClassName) {                                         \
    using Base_ = EVENTPP_I_BARE(baseClassName);                                                   \
                                                                                                   \
   public:                                                                                         \
    className()                                                                                    \
        : Base_(EVENTPP_I_BARE(baseClassArgs))                                                     \
              EVENTPP_I_EACH(EVENTPP_I_EMPTY_INITIALISER, firstField __VA_OPT__(, ) __VA_ARGS__) { \
    }                                                                                              \
    explicit className(EVENTPP_I_PARAMETER firstField                                              \
                           EVENTPP_I_EACH(EVENTPP_I_NEXT_PARAMETER __VA_OPT__(, ) __VA_ARGS__))    \
        : Base_(EVENTPP_I_BARE(baseClassArgs))                                                     \
              EVENTPP_I_EACH(EVENTPP_I_INITIALISER, firstField __VA_OPT__(, ) __VA_ARGS__) {}      \
    EVENTPP_I_EACH(EVENTPP_I_ACCESS, firstField __VA_OPT__(, ) __VA_ARGS__)                        \
   private:                                                                                        \
    EVENTPP_I_EACH(EVENTPP_I_MEMBER, firstField __VA_OPT__(, ) __VA_ARGS__)                        \
  }

#define EVENTPP_MAKE_EMPTY_EVENT(className, baseClassName, baseClassArgs)         \
  class className : public EVENTPP_I_BARE(baseClassName) {                        \
   public:                                                                        \
    className() : EVENTPP_I_BARE(baseClassName)(EVENTPP_I_BARE(baseClassArgs)) {} \
  }
