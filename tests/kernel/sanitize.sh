#!/bin/sh
# Builds the kernel's own tests with the address and undefined-behaviour sanitizers, and runs them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
"${CXX:-g++}" -std=c++20 -O1 -g -Wall -Wextra -Werror -pthread \
  -fsanitize=address,undefined -fno-sanitize-recover=all -D_GLIBCXX_ASSERTIONS \
  -I "$here/../../src/contextwise/counting/kernel" "$here/kernel_test.cpp" -o "$built/kernel_test"
"$built/kernel_test" "$@"
