# Installation, and find_package(plumbline) for C++ users.
include(CMakePackageConfigHelpers)

install(TARGETS plumbline EXPORT plumblineTargets FILE_SET HEADERS)
install(TARGETS plumbline_cli)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/hardware/ DESTINATION ${CMAKE_INSTALL_DATADIR}/plumbline/hardware
        FILES_MATCHING PATTERN "*.toml" PATTERN "*.bin")
install(EXPORT plumblineTargets NAMESPACE plumbline:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/plumbline)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/plumblineConfig.cmake.in
  ${PROJECT_BINARY_DIR}/plumblineConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/plumbline)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/plumblineConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/plumblineConfig.cmake ${PROJECT_BINARY_DIR}/plumblineConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/plumbline)
