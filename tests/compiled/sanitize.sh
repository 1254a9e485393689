#!/bin/sh
# Builds and runs the tests of the growth of trees, the counting of rows and the coordinate descent
# with the address and undefined-behaviour sanitizers, and with the thread sanitizer.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rooms=$here/../../src/contextwise
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
for kinds in address,undefined thread; do
  for test in growth_test count_test descent_test; do
    "${CXX:-g++}" -std=c++20 -O1 -g -Wall -Wextra -Werror -pthread \
      "-fsanitize=$kinds" -fno-sanitize-recover=all -D_GLIBCXX_ASSERTIONS \
      -I "$rooms/learning/grow" -I "$rooms/evidence/count" -I "$rooms/distributions" "$here/$test.cpp" -o "$built/$test"
    "$built/$test" "$@"
  done
done
