# cmake --install: the library, its public headers, the programs, and the two ways to find them:
# find_package(stria) and pkg-config. One prefix holds the build for one MPI, or, with
# STRIA_SIDE_BY_SIDE, the libraries for several. A program joins by
#   set_property(GLOBAL APPEND PROPERTY STRIA_PROGRAMS target)
include(CMakePackageConfigHelpers)
set(STRIA_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/stria)

foreach(suffix IN LISTS STRIA_SUFFIXES)
  install(TARGETS stria${suffix} stria_c${suffix} EXPORT stria_targets${suffix}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/stria DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(FILES ${CMAKE_SOURCE_DIR}/include/stria.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# The documents lie as they do here, with what else they link to: every link leads somewhere.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs ${CMAKE_SOURCE_DIR}/examples ${CMAKE_SOURCE_DIR}/include
  DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN "__pycache__" EXCLUDE)
foreach(path LICENSE README.md CHANGELOG.md CONTRIBUTING.md src/README.md packaging/README.md scripts/debian_packages.txt
    bindings/fortran/stria.f90)
  get_filename_component(folder ${path} DIRECTORY)
  install(FILES ${CMAKE_SOURCE_DIR}/${path} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()

# Installed programs find the library beside them, wherever the prefix is moved to.
get_property(programs GLOBAL PROPERTY STRIA_PROGRAMS)
file(RELATIVE_PATH libraries_from_programs /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR})
foreach(program IN LISTS programs)
  set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries_from_programs}")
  install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endforeach()

# What cmake --install needs, without tests and what only benchmarks run. The laboratory joins by
#   set_property(GLOBAL APPEND PROPERTY STRIA_ALSO_INSTALLED target)
get_property(also_installed GLOBAL PROPERTY STRIA_ALSO_INSTALLED)
add_custom_target(installed DEPENDS stria_serial stria_c_serial ${programs} ${also_installed})
foreach(target stria stria_c stria_fortran stria_fortran_serial stria_hdf5 hdf5_vol_stria stria_mpiio stria_trace stria_manual)
  if(TARGET ${target})
    add_dependencies(installed ${target})
  endif()
endforeach()

# Each MPI has a file of its own, and the file that asks for them is the same in every build.
if(STRIA_HAS_MPI)
  install(EXPORT stria_targets NAMESPACE stria:: FILE striaTargets_${STRIA_MPI}.cmake DESTINATION ${STRIA_CMAKE_DIR})
endif()
install(EXPORT stria_targets_serial NAMESPACE stria:: FILE striaTargets_serial.cmake DESTINATION ${STRIA_CMAKE_DIR})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/stria_config.cmake.in ${CMAKE_BINARY_DIR}/striaConfig.cmake
  INSTALL_DESTINATION ${STRIA_CMAKE_DIR})
# 0.x promises nothing between minor versions, and the shared object's name says so.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/striaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/striaConfig.cmake ${CMAKE_BINARY_DIR}/striaConfigVersion.cmake DESTINATION ${STRIA_CMAKE_DIR})

# The .pc file finds its prefix from its own place, as the CMake package does.
file(RELATIVE_PATH STRIA_PREFIX_FROM_PC /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
set(STRIA_PC_openmpi_CXX ompi-cxx)
set(STRIA_PC_openmpi_C ompi-c)
set(STRIA_PC_mpich_CXX mpich)
set(STRIA_PC_mpich_C mpich)
# stria_pkg_config(NAME WHICH REQUIRES FLAGS): NAME.pc of the library NAME.
function(stria_pkg_config name STRIA_PC_WHICH STRIA_PC_REQUIRES STRIA_PC_FLAGS)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/stria.pc.in ${CMAKE_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
stria_pkg_config(stria_serial "C++, without MPI" "" " -DSTRIA_NO_MPI")
stria_pkg_config(stria_c_serial "C, without MPI" "" "")
if(STRIA_HAS_MPI)
  stria_pkg_config(stria${STRIA_MPI_SUFFIX} "C++, built with ${STRIA_MPI}" "${STRIA_PC_${STRIA_MPI}_CXX}" "")
  stria_pkg_config(stria_c${STRIA_MPI_SUFFIX} "C, built with ${STRIA_MPI}" "${STRIA_PC_${STRIA_MPI}_C}" "")
endif()
get_property(has_fortran GLOBAL PROPERTY STRIA_HAS_FORTRAN)
if(has_fortran)
  if(STRIA_HAS_MPI)
    # The file serves gfortran itself as well as the MPI's wrapper. MPIs have no pkg-config file in
    # common that knows where their modules are.
    set(name stria_fortran${STRIA_MPI_SUFFIX})
    get_property(folders GLOBAL PROPERTY STRIA_MPI_FORTRAN_INCLUDE_DIRS)
    get_property(libraries GLOBAL PROPERTY STRIA_MPI_FORTRAN_LIBRARIES)
    list(TRANSFORM folders PREPEND " -I" OUTPUT_VARIABLE flags)
    string(JOIN "" flags ${flags})
    string(JOIN " " STRIA_PC_MORE_LIBS "" ${libraries})
    stria_pkg_config(${name} "Fortran, built with ${STRIA_MPI}" "" "/${name}/gfortran${flags}")
    set(STRIA_PC_MORE_LIBS)
  endif()
  stria_pkg_config(stria_fortran_serial "Fortran, without MPI" "" "/stria_fortran_serial/gfortran")
endif()
