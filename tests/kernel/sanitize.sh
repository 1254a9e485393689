#!/bin/sh
# Compiles each header of the kernel alone. Then builds and runs the kernel's tests with the address
# and undefined-behaviour sanitizers, and with the thread sanitizer.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
kernel=$here/../../src/contextwise/counting/kernel
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
compile="${CXX:-g++} -std=c++20 -Wall -Wextra -Werror -pthread -I $kernel"

for header in "$kernel"/*.hpp; do
  echo "#include \"$(basename "$header")\"" | $compile -fsyntax-only -x c++ - \
    || { echo "$(basename "$header") does not compile alone"; exit 1; }
done

for sanitizers in address,undefined thread; do
  $compile -O1 -g -fsanitize=$sanitizers -fno-sanitize-recover=all -D_GLIBCXX_ASSERTIONS \
    "$here/kernel_test.cpp" -o "$built/kernel_test"
  echo "with -fsanitize=$sanitizers:"
  "$built/kernel_test" "$@"
done
