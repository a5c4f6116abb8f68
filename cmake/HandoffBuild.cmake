# What every target of this project is built with. Nothing here reaches a user's own targets:
# warnings are private, and sanitizers are for the user who configures this tree to ask for.

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  # Each test is labelled with the preset it was built by: `check` runs those of all presets as one.
  cmake_path(GET PROJECT_BINARY_DIR FILENAME preset)
  set_property(DIRECTORY PROPERTY LABELS ${preset})
  find_program(HANDOFF_CCACHE ccache)
  if(HANDOFF_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${HANDOFF_CCACHE})
  endif()
  if(HANDOFF_SANITIZE)
    add_compile_options(-fsanitize=${HANDOFF_SANITIZE} -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${HANDOFF_SANITIZE})
    if(HANDOFF_SANITIZE MATCHES "undefined")
      add_compile_options(-fno-sanitize-recover=undefined)
    endif()
  endif()
endif()

# handoff_own_target(NAME): the warnings this project holds itself to.
function(handoff_own_target name)
  set_target_properties(${name} PROPERTIES
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
  target_compile_options(${name} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Wcast-align
    $<$<BOOL:${HANDOFF_WERROR}>:-Werror>)
  # Where a pointer has 32 bits, positions and offsets of 64 bits are cut to index what is in
  # memory, and g++ takes bytes for less aligned than they are.
  if(CMAKE_SIZEOF_VOID_P EQUAL 4)
    target_compile_options(${name} PRIVATE -Wno-conversion -Wno-cast-align)
  endif()
endfunction()

# handoff_compile_in_batches(NAME [FILES]): several source files of a folder at a time, 6 if not
# said otherwise, which reads the headers once for all of them. No batch crosses a folder: a program
# that links the archive gets the rooms that it uses, not what happened to be compiled beside them.
# Two files with the same name for a thing of their own put theirs into a namespace that is named
# after the file.
option(HANDOFF_BATCHES "Compile several files at a time, which is faster" ON)
function(handoff_compile_in_batches name)
  if(NOT HANDOFF_BATCHES)
    return()
  endif()
  set(files 6)
  if(ARGC GREATER 1)
    set(files ${ARGV1})
  endif()
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${name} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME room)
    list(LENGTH sources_of_${room} place)
    list(APPEND sources_of_${room} ${source})
    math(EXPR batch "${place} / ${files}")
    set_source_files_properties(${source} TARGET_DIRECTORY ${name}
      PROPERTIES UNITY_GROUP "${room}_${batch}")
  endforeach()
endfunction()
