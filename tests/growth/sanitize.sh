#!/bin/sh
# Builds the tests of the compiled growth of trees with sanitizers, and runs them: first for
# addresses and undefined behaviour, then for threads.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
for kinds in address,undefined thread; do
  "${CXX:-g++}" -std=c++20 -O1 -g -Wall -Wextra -Werror -pthread \
    "-fsanitize=$kinds" -fno-sanitize-recover=all -D_GLIBCXX_ASSERTIONS \
    -I "$here/../../src/contextwise/learning/grow" "$here/growth_test.cpp" -o "$built/growth_test"
  "$built/growth_test" "$@"
done
