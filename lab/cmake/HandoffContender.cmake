# A contender is one file and one line:
#
#   handoff_contender(SCENARIO NAME [SOURCE file] [LIBRARIES target ...] [INCLUDE_DIR variable]
#     [PACKAGE debian-package] [IF variable ...] [WHEN "parameter=value,value" ...]
#     [ORDER fifo|per producer|none] [LIST name] [PROGRAM name] [BY library])
#
# builds SOURCE (contenders/NAME.cpp of the calling folder) as the program
# libexec/handoff/SCENARIO/NAME, linked with the scenario's glue (target handoff_SCENARIO) and its
# own LIBRARIES only. INCLUDE_DIR is the variable that names the folder of a library which is its
# headers. Where that, or one of the IF variables, is false it is not built, and its row says that
# PACKAGE would bring it. WHEN says to which cells it applies; without it, to all. A contender that
# goes on when workers are killed says so with "kill=any". ORDER is for queues: in which order items
# come out that several threads put in: that in which they were put in, each producer's own, or
# none. LIST is the list that it is entered in; another one than `contenders`, the lab's own, is for
# tests. Contenders that link the same are one program, PROGRAM, made of contenders/PROGRAM.cpp: it
# is built as the first of them says, and its argument says which of them it is (`chosen` in
# harness/contender.hpp). BY stands for what handoff_library(NAME ...) says of a library that several
# contenders link.
#
# Pools are measured by several scenarios. What one is stands once, in lab/peers:
#
#   handoff_pool(NAME CLASS HEADER [what handoff_contender() takes])
#
# and one line makes a contender of it:
#
#   handoff_pool_contender(SCENARIO NAME [WHEN "parameter=value,value" ...])
#
# A program's speed depends on where its code happens to lie (docs/adr/0011). So each of the lab's
# own contenders is linked in several layouts, NAME, NAME.layout1, ..., and each launch takes one of
# them. What contenders share as their work comes from a shared object: handoff_shared_work().

# Which contenders are built: all, or the few of tests/lab/few_contenders.txt, in one layout.
set(HANDOFF_LAB_CONTENDERS all CACHE STRING "all, or few: a small lab")
set_property(CACHE HANDOFF_LAB_CONTENDERS PROPERTY STRINGS all few)
set(handoff_few "")
if(HANDOFF_LAB_CONTENDERS STREQUAL "few")
  set(few ${PROJECT_SOURCE_DIR}/tests/lab/few_contenders.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${few})
  file(STRINGS ${few} lines REGEX "^[^#]")
  foreach(line IN LISTS lines)
    string(REPLACE " " ";" words "${line}")
    list(POP_FRONT words scenario)
    list(TRANSFORM words PREPEND ${scenario}/)
    list(APPEND handoff_few ${words})
  endforeach()
endif()

# How far in each layout the code is moved from where it would be. Functions begin at multiples of
# 16: so among the layouts each of them begins once at every such place of a cache line, and at
# distant places of a page.
set(HANDOFF_LAYOUTS 0 1040 2080 3120)
# A canary is the same contender in layouts that are no contender's, with the same property.
set(HANDOFF_CANARY_LAYOUTS 528 1568 2608 3648)
if(handoff_few)
  set(HANDOFF_LAYOUTS 0)
  set(HANDOFF_CANARY_LAYOUTS 528)
endif()

# Code that nobody calls, made once for each padding.
function(handoff_make_paddings)
  foreach(bytes IN LISTS HANDOFF_LAYOUTS HANDOFF_CANARY_LAYOUTS)
    add_library(handoff_padding_${bytes} OBJECT ${PROJECT_SOURCE_DIR}/lab/harness/padding.cpp)
    target_compile_definitions(handoff_padding_${bytes} PRIVATE HANDOFF_PADDING="${bytes}")
    handoff_own_target(handoff_padding_${bytes})
  endforeach()
endfunction()

# handoff_scenario(NAME [LIBRARIES target ...]): the scenario of the calling folder. The coordinator
# gets scenario.cpp, the contenders the glue handoff_NAME: their main, contender.cpp or, where there
# is none, what makes the task of measure.hpp, and LIBRARIES.
function(handoff_scenario name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBRARIES")
  target_sources(handoff_lab PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/scenario.cpp)
  set(glue contender.cpp)
  if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${glue})
    set(glue ${PROJECT_SOURCE_DIR}/lab/scenarios/prepare.cpp)
  endif()
  add_library(handoff_${name} STATIC ${glue} $<TARGET_OBJECTS:handoff_lab_contender>)
  handoff_lab_target(handoff_${name})
  target_compile_definitions(handoff_${name} PRIVATE HANDOFF_SCENARIO=${name}
    "HANDOFF_TASK_HEADER=\"scenarios/${name}/measure.hpp\"")
  target_link_libraries(handoff_${name} PUBLIC ${arg_LIBRARIES})
endfunction()

# Hundreds of programs are linked, which takes half of a build's time: with gold, where it is there,
# a quarter of that.
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=gold HANDOFF_HAS_GOLD)

# The program of one layout, which has the code of `code`.
function(handoff_link_layout target code scenario output padding libraries)
  add_executable(${target}
    $<TARGET_OBJECTS:handoff_padding_${padding}> $<TARGET_OBJECTS:${code}>)
  target_link_libraries(${target} PRIVATE handoff_${scenario} ${libraries})
  if(HANDOFF_HAS_GOLD)
    target_link_options(${target} PRIVATE -fuse-ld=gold)
  endif()
  set_target_properties(${target} PROPERTIES
    LINKER_LANGUAGE CXX
    OUTPUT_NAME ${output}
    RUNTIME_OUTPUT_DIRECTORY ${HANDOFF_LIBEXEC_DIR}/${scenario}
    BUILD_RPATH_USE_ORIGIN ON
    INSTALL_RPATH "$ORIGIN/../lib"
    INSTALL_RPATH_USE_LINK_PATH ON)
endfunction()

# handoff_link_layouts(SCENARIO NAME CODE OUTPUT INSTALLED LAYOUTS LIBRARIES): the programs OUTPUT,
# OUTPUT.layout1 and so on, built by the target handoff_SCENARIO_OUTPUT; their paths go into
# `executables`.
function(handoff_link_layouts scenario code output installed layouts libraries)
  set(target handoff_${scenario}_${output})
  set(targets "")
  set(executables "")
  foreach(padding IN LISTS layouts)
    list(LENGTH targets number)
    set(suffix "")
    if(number GREATER 0)
      set(suffix .layout${number})
    endif()
    handoff_link_layout(${target}${suffix} ${code} ${scenario} ${output}${suffix} ${padding}
      "${libraries}")
    list(APPEND targets ${target}${suffix})
    list(APPEND executables "\"${scenario}/${output}${suffix}\"")
  endforeach()
  list(POP_FRONT targets first)
  if(targets)
    add_dependencies(${first} ${targets})
  endif()
  if(HANDOFF_INSTALL AND installed)
    install(TARGETS ${first} ${targets}
      DESTINATION libexec/handoff/${scenario} COMPONENT lab OPTIONAL)
  endif()
  list(JOIN executables ", " executables)
  set(executables "${executables}" PARENT_SCOPE)
endfunction()

# handoff_version_of(PACKAGE): sets `version` to that of the installed Debian package, as its
# authors count; empty where that cannot be known.
function(handoff_version_of package)
  set(version "")
  if(package MATCHES "^[a-z0-9.+-]+$")
    get_property(known GLOBAL PROPERTY handoff_version_of_${package} SET)
    if(NOT known)
      execute_process(COMMAND dpkg-query -W -f "\${Version}" ${package}
        OUTPUT_VARIABLE found ERROR_QUIET RESULT_VARIABLE failed)
      if(failed)
        set(found "")
      endif()
      string(REGEX REPLACE "^[0-9]+:" "" found "${found}")
      string(REGEX REPLACE "[-+~].*$" "" found "${found}")
      string(REGEX REPLACE "^0\\.0$" "" found "${found}") # its authors count none
      set_property(GLOBAL PROPERTY handoff_version_of_${package} "${found}")
    endif()
    get_property(version GLOBAL PROPERTY handoff_version_of_${package})
  endif()
  set(version "${version}" PARENT_SCOPE)
endfunction()

# handoff_enter(LIST SCENARIO NAME EXECUTABLES PACKAGE WHEN ORDER ARGUMENT): a line in a list of
# contenders.
function(handoff_enter list scenario name executables package when order argument)
  if(NOT order MATCHES "^(fifo|per producer|none)?$")
    message(FATAL_ERROR "${scenario} ${name}: ORDER is fifo, \"per producer\" or none")
  endif()
  set(conditions "")
  foreach(condition IN LISTS when)
    string(REGEX MATCH "^([^=]+)=(.+)$" matched "${condition}")
    string(REPLACE "," "\", \"" values "${CMAKE_MATCH_2}")
    list(APPEND conditions "\"${CMAKE_MATCH_1}\": [\"${values}\"]")
  endforeach()
  list(JOIN conditions ", " conditions)
  set(version "")
  if(executables)
    handoff_version_of("${package}")
  endif()
  set_property(GLOBAL APPEND PROPERTY handoff_list_${list}
    "{\"scenario\": \"${scenario}\", \"name\": \"${name}\", \"executable\": [${executables}], \
\"package\": \"${package}\", \"version\": \"${version}\", \"when\": {${conditions}}, \
\"order\": \"${order}\", \"argument\": \"${argument}\"}")
endfunction()

function(handoff_library name)
  set_property(GLOBAL PROPERTY handoff_library_${name} ${ARGN})
endfunction()

function(handoff_contender scenario name)
  cmake_parse_arguments(linked "" BY "" ${ARGN})
  get_property(known GLOBAL PROPERTY handoff_library_${linked_BY})
  cmake_parse_arguments(arg "" "SOURCE;INCLUDE_DIR;PACKAGE;ORDER;LIST;PROGRAM;BY"
    "LIBRARIES;IF;WHEN" ${ARGN} ${known})
  if(NOT arg_LIST)
    set(arg_LIST contenders)
  endif()
  if(handoff_few AND arg_LIST STREQUAL "contenders"
      AND NOT "${scenario}/${name}" IN_LIST handoff_few)
    return()
  endif()
  set(program ${name})
  set(argument "")
  if(arg_PROGRAM)
    set(program ${arg_PROGRAM})
    set(argument ${name})
  endif()
  if(NOT arg_SOURCE)
    set(arg_SOURCE contenders/${program}.cpp)
  endif()
  set(built ON)
  foreach(condition IN LISTS arg_IF arg_INCLUDE_DIR)
    if(NOT ${condition})
      set(built OFF)
    endif()
  endforeach()
  set(executables "")
  set(code handoff_${scenario}_${program}_code)
  set_property(GLOBAL PROPERTY handoff_code_of_${scenario}_${name} ${code} "${argument}")
  if(built AND TARGET ${code})
    get_target_property(executables ${code} handoff_executables)
  elseif(built)
    add_library(${code} OBJECT ${arg_SOURCE})
    target_link_libraries(${code} PRIVATE handoff_${scenario} ${arg_LIBRARIES})
    if(arg_INCLUDE_DIR)
      target_include_directories(${code} SYSTEM PRIVATE ${${arg_INCLUDE_DIR}})
    endif()
    handoff_lab_target(${code})
    set(layouts 0)
    set(installed OFF)
    if(arg_LIST STREQUAL "contenders")
      set(layouts ${HANDOFF_LAYOUTS})
      set(installed ON)
    endif()
    handoff_link_layouts(${scenario} ${code} ${program} ${installed} "${layouts}"
      "${arg_LIBRARIES}")
    set_property(TARGET ${code} PROPERTY handoff_libraries "${arg_LIBRARIES}")
    set_property(TARGET ${code} PROPERTY handoff_executables "${executables}")
  endif()
  handoff_enter(${arg_LIST} ${scenario} ${name} "${executables}" "${arg_PACKAGE}" "${arg_WHEN}"
    "${arg_ORDER}" "${argument}")
endfunction()

function(handoff_pool name class header)
  set_property(GLOBAL PROPERTY handoff_pool_${name} ${ARGN})
  set_property(GLOBAL PROPERTY handoff_pool_code_${name}
    "HANDOFF_POOL=${class}" "HANDOFF_POOL_HEADER=\"${header}\"")
endfunction()

function(handoff_pool_contender scenario name)
  get_property(known GLOBAL PROPERTY handoff_pool_${name})
  get_property(definitions GLOBAL PROPERTY handoff_pool_code_${name})
  handoff_contender(${scenario} ${name} SOURCE ${PROJECT_SOURCE_DIR}/lab/peers/contender.cpp
    ${known} ${ARGN})
  set(code handoff_${scenario}_${name}_code)
  if(TARGET ${code})
    target_compile_definitions(${code} PRIVATE ${definitions} HANDOFF_SCENARIO=${scenario}
      "HANDOFF_MEASURE_HEADER=\"scenarios/${scenario}/measure.hpp\"")
  endif()
endfunction()

# handoff_canary(SCENARIO NAME WHEN "parameter=value" ...): the code of a contender once more, which
# lies elsewhere in all of its layouts. `handoff doctor --self-test` measures both in the first cell
# that WHEN leaves; they must be equal.
function(handoff_canary scenario name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "WHEN")
  get_property(known GLOBAL PROPERTY handoff_code_of_${scenario}_${name})
  list(POP_FRONT known code)
  if(TARGET "${code}")
    get_target_property(libraries ${code} handoff_libraries)
    handoff_link_layouts(${scenario} ${code} ${name}.canary ON "${HANDOFF_CANARY_LAYOUTS}"
      "${libraries}")
    handoff_enter(canaries ${scenario} ${name} "${executables}" "" "${arg_WHEN}" "" "${known}")
  endif()
endfunction()

# handoff_shared_work(NAME SOURCE ...): a shared object with what several contenders execute as the
# work, so that it lies at the same place of a page for all of them; functions begin at cache lines,
# so that one that changes moves no other one's code.
function(handoff_shared_work name)
  add_library(${name} SHARED ${ARGN})
  handoff_lab_target(${name})
  target_compile_options(${name} PRIVATE -falign-functions=64)
  set_target_properties(${name} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${HANDOFF_LIBEXEC_DIR}/lib
    INSTALL_RPATH_USE_LINK_PATH ON)
  if(HANDOFF_INSTALL)
    install(TARGETS ${name} LIBRARY DESTINATION libexec/handoff/lib COMPONENT lab
      OPTIONAL NAMELINK_SKIP)
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
  if(HANDOFF_INSTALL AND name MATCHES "^(contenders|canaries)$")
    install(FILES ${HANDOFF_LIBEXEC_DIR}/${name}.json DESTINATION libexec/handoff COMPONENT lab)
  endif()
endfunction()
