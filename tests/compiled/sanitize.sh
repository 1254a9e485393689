#!/bin/sh
# Builds and runs the tests of the growth of trees, the counting of rows, the coordinate descent, the
# search at tolerances and the logits of blocks with the address and undefined-behaviour sanitizers,
# and with the thread sanitizer.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rooms=$here/../../src/contextwise
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
for kinds in address,undefined thread; do
  for test in growth_test count_test descent_test odds_test blocks_test; do
    "${CXX:-g++}" -std=c++20 -O1 -g -Wall -Wextra -Werror -pthread -fopenmp-simd \
      "-fsanitize=$kinds" -fno-sanitize-recover=all -D_GLIBCXX_ASSERTIONS \
      -I "$rooms/learning/grow" -I "$rooms/evidence/count" -I "$rooms/distributions" \
      -I "$rooms/comparison/odds" -I "$rooms/learning/blocks" "$here/$test.cpp" -o "$built/$test"
    "$built/$test" "$@"
  done
done
