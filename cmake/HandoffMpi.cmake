# The room mpi/, a library of its own: handoff::mpi, where Open MPI is found. Without it all else is
# the same. Sets HANDOFF_HAS_MPI.
set(HANDOFF_MPI AUTO CACHE STRING "RankTeam, by Open MPI: ON, OFF, or AUTO, where it is found")
set_property(CACHE HANDOFF_MPI PROPERTY STRINGS AUTO ON OFF)

set(HANDOFF_HAS_MPI FALSE)
# Open MPI is not built for sanitizers, which report what it does.
if(HANDOFF_MPI AND NOT (HANDOFF_SANITIZE AND HANDOFF_MPI STREQUAL "AUTO"))
  set(MPI_CXX_SKIP_MPICXX ON)   # its C++ bindings are gone from the standard
  if(HANDOFF_MPI STREQUAL "AUTO")
    find_package(MPI QUIET COMPONENTS CXX)
  else()
    find_package(MPI REQUIRED COMPONENTS CXX)
  endif()
  if(MPI_CXX_FOUND)
    include(CheckCXXSymbolExists)
    set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_CXX)
    check_cxx_symbol_exists(OPEN_MPI mpi.h HANDOFF_IS_OPEN_MPI)
    unset(CMAKE_REQUIRED_LIBRARIES)
    set(HANDOFF_HAS_MPI ${HANDOFF_IS_OPEN_MPI})
  endif()
  if(HANDOFF_MPI STREQUAL "ON" AND NOT HANDOFF_HAS_MPI)
    message(FATAL_ERROR "HANDOFF_MPI is ON, and the MPI that CMake found is not Open MPI")
  endif()
endif()

if(HANDOFF_HAS_MPI)
  set_target_properties(MPI::MPI_CXX PROPERTIES IMPORTED_GLOBAL TRUE)  # for users above
  add_library(handoff_mpi STATIC
    src/mpi/rank_checkpoint.cpp
    src/mpi/rank_link.cpp
    src/mpi/rank_run.cpp
    src/mpi/rank_team.cpp)
  add_library(handoff::mpi ALIAS handoff_mpi)
  handoff_own_target(handoff_mpi)
  target_link_libraries(handoff_mpi PUBLIC handoff PRIVATE MPI::MPI_CXX)
  set_target_properties(handoff_mpi PROPERTIES EXPORT_NAME mpi POSITION_INDEPENDENT_CODE ON)
  if(NOT HANDOFF_INSTALL)
    set_target_properties(handoff_mpi PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endif()
