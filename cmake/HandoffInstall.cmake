# Install rules of the library: headers, the compiled part (static, or shared by BUILD_SHARED_LIBS),
# find_package(handoff) and pkg-config. The installed tree may be moved as a whole. All of it is the
# component `library`; `mpi` is handoff::mpi, `doc` what people read, and `lab` the programs.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

foreach(folder LIBDIR INCLUDEDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${folder}}")
    message(FATAL_ERROR "CMAKE_INSTALL_${folder} is ${CMAKE_INSTALL_${folder}}: give a path below "
      "CMAKE_INSTALL_PREFIX, or the installed tree could not be moved")
  endif()
endforeach()
set(handoff_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/handoff)
set(handoff_pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME library)
install(TARGETS handoff EXPORT handoffTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/handoff ${PROJECT_BINARY_DIR}/include/handoff
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.hpp PATTERN *.h
  PATTERN handoff/mpi EXCLUDE)
# Apart, so that a program gets another library's names only if it asks for them.
set(handoff_compat_dir ${CMAKE_INSTALL_INCLUDEDIR}/handoff-compat)
foreach(name folder IN ZIP_LISTS handoff_compat_names handoff_compat_folders)
  install(TARGETS handoff_${name} EXPORT handoffTargets
    INCLUDES DESTINATION ${handoff_compat_dir}/${folder})
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/compat/
  DESTINATION ${handoff_compat_dir} FILES_MATCHING PATTERN *.h PATTERN *.hpp)
install(EXPORT handoffTargets NAMESPACE handoff:: DESTINATION ${handoff_package_dir})

# Where there is Open MPI, its room as a library and a component of its own.
if(HANDOFF_HAS_MPI)
  install(TARGETS handoff_mpi EXPORT handoffMpiTargets COMPONENT mpi
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/handoff/mpi COMPONENT mpi
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/handoff FILES_MATCHING PATTERN *.hpp)
  install(EXPORT handoffMpiTargets NAMESPACE handoff:: DESTINATION ${handoff_package_dir}
    COMPONENT mpi)
endif()

# Before 1.0 a minor version may change the interface, from then on only a major one may.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(handoff_compatibility SameMinorVersion)
else()
  set(handoff_compatibility SameMajorVersion)
endif()
# What a static library needs beside it, its users link.
get_target_property(type handoff TYPE)
set(HANDOFF_LINKS_URING FALSE)
set(HANDOFF_PC_URING)
if(HANDOFF_HAS_URING AND type STREQUAL "STATIC_LIBRARY")
  set(HANDOFF_LINKS_URING TRUE)
  set(HANDOFF_PC_URING " -luring")
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/FindLiburing.cmake DESTINATION ${handoff_package_dir})
endif()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/handoffConfig.cmake.in
  ${PROJECT_BINARY_DIR}/handoffConfig.cmake INSTALL_DESTINATION ${handoff_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/handoffConfigVersion.cmake
  COMPATIBILITY ${handoff_compatibility})
install(FILES ${PROJECT_BINARY_DIR}/handoffConfig.cmake
  ${PROJECT_BINARY_DIR}/handoffConfigVersion.cmake DESTINATION ${handoff_package_dir})

file(RELATIVE_PATH HANDOFF_PC_TO_PREFIX /${handoff_pkgconfig_dir} /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/handoff.pc.in ${PROJECT_BINARY_DIR}/handoff.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/handoff.pc DESTINATION ${handoff_pkgconfig_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# As they lie in the source, or their links would lead nowhere.
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
