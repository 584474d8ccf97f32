/// Loops compiled twice, for AVX2 and for the baseline; the program chooses between them when it is loaded.
///
/// Without FMA, so that all processors agree on every bit. Elsewhere (clang, other processors, other C libraries) the
/// same loops are compiled for the baseline alone.
#pragma once

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
#define SIMGRAD_AVX2_IF_THERE [[gnu::target_clones("avx2", "default")]]
#else
#define SIMGRAD_AVX2_IF_THERE
#endif
