# What `cmake --install` puts down: headers, libraries, the program, pkg-config files and a CMake package. Everything in it
# is relative to where it lies, so an installed tree may be moved.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS libmend libmend_static libmend_core EXPORT mend-targets)
if(MEND_PROGRAM)
  install(TARGETS mend mend-fault-server)
endif()

file(RELATIVE_PATH PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(name IN ITEMS mend mend-static mend-core)
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/mend)
configure_package_config_file(cmake/mend-config.cmake.in mend-config.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(mend-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mend-config.cmake ${PROJECT_BINARY_DIR}/mend-config-version.cmake
        DESTINATION ${package})
install(EXPORT mend-targets NAMESPACE mend:: DESTINATION ${package})
