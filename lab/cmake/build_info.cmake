# Run at each build: writes build_info.hpp, but touches it only if something in it changed.
find_package(Git QUIET)
set(commit unknown)
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} describe --always --dirty --abbrev=12
    WORKING_DIRECTORY ${source} OUTPUT_VARIABLE described RESULT_VARIABLE failed
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT failed)
    set(commit ${described})
  endif()
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/build_info.hpp.in ${header} @ONLY)
