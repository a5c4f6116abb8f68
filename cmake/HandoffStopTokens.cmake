# libc++ before 20 has std::stop_token only if asked for it by a flag. Our headers name it, so
# HANDOFF_STOP_TOKEN_FLAG goes to all code that includes them: with the target, and by handoff.pc.

set(HANDOFF_STOP_TOKEN_FLAG "")
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_FLAGS -std=c++20)
  set(handoff_probe "#include <stop_token>\nint main() { std::stop_token token; }")
  check_cxx_source_compiles("${handoff_probe}" HANDOFF_HAS_STOP_TOKENS)
  if(NOT HANDOFF_HAS_STOP_TOKENS)
    string(APPEND CMAKE_REQUIRED_FLAGS " -fexperimental-library")
    check_cxx_source_compiles("${handoff_probe}" HANDOFF_HAS_EXPERIMENTAL_STOP_TOKENS)
    if(HANDOFF_HAS_EXPERIMENTAL_STOP_TOKENS)
      set(HANDOFF_STOP_TOKEN_FLAG -fexperimental-library)
    endif()
  endif()
  unset(CMAKE_REQUIRED_FLAGS)
  unset(handoff_probe)
endif()
