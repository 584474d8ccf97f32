# cmake -DFROM=analysis/report -DTO=<build directory> -P install.cmake: the packages for tests; without them tests skip.
cmake_minimum_required(VERSION 3.25)
find_program(npm npm)
if(npm)
  file(COPY ${FROM}/package.json ${FROM}/package-lock.json DESTINATION ${TO})
  execute_process(COMMAND ${npm} ci --ignore-scripts --no-audit --no-fund --fetch-retries=1 --fetch-retry-mintimeout=1000 --loglevel=error
                  WORKING_DIRECTORY ${TO} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_FILE ${TO}/npm.log TIMEOUT 300)
  if(NOT failed)
    file(TOUCH ${TO}/node_modules/installed)
    return()
  endif()
endif()
message("The report's tests will skip: npm is not here, or could not install their packages.")
