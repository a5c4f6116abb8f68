# liburing, with which files are read and written by io_uring: the target liburing::liburing.
# Also installed: a static handoff needs it where it is linked.
find_path(LIBURING_INCLUDE_DIR liburing.h)
find_library(LIBURING_LIBRARY uring)
mark_as_advanced(LIBURING_INCLUDE_DIR LIBURING_LIBRARY)

# Since 2.3 it knows a ring that belongs to one thread.
set(Liburing_wanted)
if(LIBURING_INCLUDE_DIR AND EXISTS ${LIBURING_INCLUDE_DIR}/liburing/io_uring.h)
  file(STRINGS ${LIBURING_INCLUDE_DIR}/liburing/io_uring.h Liburing_wanted
    REGEX "define IORING_SETUP_DEFER_TASKRUN")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Liburing
  REQUIRED_VARS LIBURING_LIBRARY LIBURING_INCLUDE_DIR Liburing_wanted
  REASON_FAILURE_MESSAGE "2.3 or later is needed, Debian has it in liburing-dev")

if(Liburing_FOUND AND NOT TARGET liburing::liburing)
  add_library(liburing::liburing UNKNOWN IMPORTED)
  set_target_properties(liburing::liburing PROPERTIES
    IMPORTED_LOCATION "${LIBURING_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${LIBURING_INCLUDE_DIR}")
endif()
