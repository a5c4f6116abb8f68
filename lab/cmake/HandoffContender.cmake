# A contender is one file and one line:
#
#   handoff_contender(SCENARIO NAME [LIBRARIES target ...] [PACKAGE debian-package]
#     [IF variable ...] [WHEN "parameter=value,value" ...] [LIST name])
#
# builds contenders/NAME.cpp of the calling folder as the program libexec/handoff/SCENARIO/NAME,
# linked with the scenario's glue (target handoff_SCENARIO) and its own LIBRARIES only. Where one of
# the IF variables is false it is not built, and its row says that PACKAGE would bring it. WHEN says
# to which cells it applies; without it, to all. LIST is the list that it is entered in; another one
# than `contenders`, the lab's own, is for tests.
function(handoff_contender scenario name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "PACKAGE;LIST" "LIBRARIES;IF;WHEN")
  if(NOT arg_LIST)
    set(arg_LIST contenders)
  endif()
  set(executable "${scenario}/${name}")
  foreach(condition IN LISTS arg_IF)
    if(NOT ${condition})
      set(executable "")
    endif()
  endforeach()
  if(executable)
    set(target handoff_${scenario}_${name})
    add_executable(${target} contenders/${name}.cpp)
    target_link_libraries(${target} PRIVATE handoff_${scenario} ${arg_LIBRARIES})
    handoff_lab_target(${target})
    set_target_properties(${target} PROPERTIES
      OUTPUT_NAME ${name}
      RUNTIME_OUTPUT_DIRECTORY ${HANDOFF_LIBEXEC_DIR}/${scenario}
      INSTALL_RPATH_USE_LINK_PATH ON)
    if(HANDOFF_INSTALL AND arg_LIST STREQUAL "contenders")
      install(TARGETS ${target} DESTINATION libexec/handoff/${scenario} COMPONENT lab)
    endif()
  endif()
  set(when "")
  foreach(condition IN LISTS arg_WHEN)
    string(REGEX MATCH "^([^=]+)=(.+)$" matched "${condition}")
    string(REPLACE "," "\", \"" values "${CMAKE_MATCH_2}")
    list(APPEND when "\"${CMAKE_MATCH_1}\": [\"${values}\"]")
  endforeach()
  list(JOIN when ", " when)
  set_property(GLOBAL APPEND PROPERTY handoff_list_${arg_LIST}
    "{\"scenario\": \"${scenario}\", \"name\": \"${name}\", \"executable\": \"${executable}\", \
\"package\": \"${arg_PACKAGE}\", \"when\": {${when}}}")
endfunction()

# handoff_header_contender(SCENARIO NAME INCLUDE_DIR ...): a contender whose library is its headers,
# found in the folder that the variable INCLUDE_DIR names, if it names one.
function(handoff_header_contender scenario name include_dir)
  handoff_contender(${scenario} ${name} IF ${include_dir} ${ARGN})
  if(${include_dir})
    target_include_directories(handoff_${scenario}_${name} SYSTEM PRIVATE ${${include_dir}})
  endif()
endfunction()

# handoff_find_header(INCLUDE_DIR HEADER SOURCE): where the header is whose library SOURCE compiles
# with. A library that is too old for SOURCE counts as none.
function(handoff_find_header include_dir header source)
  find_path(${include_dir} ${header})
  if(NOT ${include_dir})
    return()
  endif()
  set(CMAKE_REQUIRED_INCLUDES ${${include_dir}})
  set(CMAKE_REQUIRED_LIBRARIES Threads::Threads)
  set(CMAKE_REQUIRED_FLAGS ${CMAKE_CXX20_STANDARD_COMPILE_OPTION})
  check_cxx_source_compiles("#include <${header}>\nint main() { ${source} }" ${include_dir}_WORKS)
  if(NOT ${include_dir}_WORKS)
    set(${include_dir} "" PARENT_SCOPE)
  endif()
endfunction()

# handoff_contender_list(LIST): writes LIST.json, which names its contenders, beside the programs.
function(handoff_contender_list name)
  get_property(entries GLOBAL PROPERTY handoff_list_${name})
  list(JOIN entries ",\n  " entries)
  file(CONFIGURE OUTPUT ${HANDOFF_LIBEXEC_DIR}/${name}.json
    CONTENT "{\"contenders\": [\n  ${entries}\n]}\n" @ONLY)
  if(HANDOFF_INSTALL AND name STREQUAL "contenders")
    install(FILES ${HANDOFF_LIBEXEC_DIR}/${name}.json DESTINATION libexec/handoff COMPONENT lab)
  endif()
endfunction()
