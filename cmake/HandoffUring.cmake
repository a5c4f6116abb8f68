# io_uring for files, by liburing. Without it FileEngine works with threads, with the same results.
# Sets HANDOFF_HAS_URING.
set(HANDOFF_WITH_URING AUTO CACHE STRING
  "io_uring for files, by liburing: ON, OFF, or AUTO, where it is found")
set_property(CACHE HANDOFF_WITH_URING PROPERTY STRINGS AUTO ON OFF)

set(HANDOFF_HAS_URING FALSE)
if(HANDOFF_WITH_URING)
  if(HANDOFF_WITH_URING STREQUAL "AUTO")
    find_package(Liburing QUIET)
  else()
    find_package(Liburing REQUIRED)
  endif()
  set(HANDOFF_HAS_URING ${Liburing_FOUND})
endif()
if(HANDOFF_HAS_URING)
  set_target_properties(liburing::liburing PROPERTIES IMPORTED_GLOBAL TRUE)  # for users above
  target_compile_definitions(handoff PRIVATE HANDOFF_HAS_URING)
  target_link_libraries(handoff PRIVATE liburing::liburing)
endif()
