# cmake --install: the library, its public headers, the programs, and the two ways to find them: find_package(stria) and
# pkg-config. One prefix holds the build for one MPI. A program of ours joins by
#   set_property(GLOBAL APPEND PROPERTY STRIA_PROGRAMS target)
include(CMakePackageConfigHelpers)
set(STRIA_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/stria)

install(TARGETS stria EXPORT striaTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/stria DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Installed programs find the library beside them, wherever the prefix is moved to.
get_property(programs GLOBAL PROPERTY STRIA_PROGRAMS)
file(RELATIVE_PATH libraries_from_programs /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR})
foreach(program IN LISTS programs)
  set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries_from_programs}")
  install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endforeach()

install(EXPORT striaTargets NAMESPACE stria:: DESTINATION ${STRIA_CMAKE_DIR})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/stria_config.cmake.in ${CMAKE_BINARY_DIR}/striaConfig.cmake
  INSTALL_DESTINATION ${STRIA_CMAKE_DIR})
# 0.x promises nothing between minor versions; the shared object's name says the same.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/striaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/striaConfig.cmake ${CMAKE_BINARY_DIR}/striaConfigVersion.cmake DESTINATION ${STRIA_CMAKE_DIR})

# The .pc file finds its prefix from its own place, as the CMake package does.
file(RELATIVE_PATH STRIA_PREFIX_FROM_PC /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
set(STRIA_PC_MPI_openmpi ompi-cxx)
set(STRIA_PC_MPI_mpich mpich)
set(STRIA_PC_MPI ${STRIA_PC_MPI_${STRIA_MPI}})
configure_file(${CMAKE_CURRENT_LIST_DIR}/stria.pc.in ${CMAKE_BINARY_DIR}/stria.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/stria.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
