# Installation, and find_package(plumbline) for C++ users.
include(CMakePackageConfigHelpers)

install(TARGETS plumbline EXPORT plumblineTargets FILE_SET HEADERS)
install(TARGETS plumbline_cli)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/hardware/ DESTINATION ${CMAKE_INSTALL_DATADIR}/plumbline/hardware
        FILES_MATCHING PATTERN "*.toml" PATTERN "*.bin")
install(EXPORT plumblineTargets NAMESPACE plumbline:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/plumbline)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/plumblineConfig.cmake.in
  ${PROJECT_BINARY_DIR}/plumblineConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/plumbline)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/plumblineConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/plumblineConfig.cmake ${PROJECT_BINARY_DIR}/plumblineConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/plumbline)

# Licences: ours, and those of every part that is linked in or whose headers are compiled in.
set(documentation ${CMAKE_INSTALL_DATADIR}/doc/plumbline)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE DESTINATION ${documentation})
set(texts /usr/share/common-licenses/GPL-3 /usr/share/common-licenses/LGPL-3)
foreach(part libcli11-dev libfmt-dev libpcre2-dev libsqlite3-dev libtomlplusplus-dev libunistring-dev nettle-dev
             nlohmann-json3-dev rapidjson-dev zlib1g-dev)
  list(APPEND texts /usr/share/doc/${part}/copyright)
endforeach()
foreach(text ${texts})
  if(EXISTS ${text})
    string(REGEX REPLACE "^/usr/share/(common-licenses|doc)/([^/]+).*$" "\\2" name ${text})
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/licences)
    file(COPY_FILE ${text} ${PROJECT_BINARY_DIR}/licences/${name} ONLY_IF_DIFFERENT)
    install(FILES ${PROJECT_BINARY_DIR}/licences/${name} DESTINATION ${documentation}/licences)
  endif()
endforeach()

# `cpack` in a build folder: a Debian package that asks for the C and C++ runtime libraries only. Its times are those
# of the last commit, so that the same sources give the same bytes.
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/package.cmake)
set(CPACK_PLUMBLINE_SOURCE ${PROJECT_SOURCE_DIR})
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME plumbline)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The Plumbline authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
