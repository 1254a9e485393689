// A mark for functions whose loops vectorise.
#pragma once

// Compiles a function for processors with fused multiply-add, too, and picks one at the start.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CONTEXTWISE_VECTORISED __attribute__((target_clones("avx512f", "fma", "default"), noinline))
#else
#define CONTEXTWISE_VECTORISED
#endif
