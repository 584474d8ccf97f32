// Ten thousand workers: how long a run of one mapreduce step takes, and how much memory a rank does, host included.
//
// scale_bench PROGRAM SCENARIO        (build/simgrad tests/bench/ten_thousand.toml)
#include <fmt/format.h>

#include "measure.h"

using namespace simgrad;

int main(int argc, char** argv) {
  if (argc < 3) return std::fputs("usage: scale_bench PROGRAM SCENARIO\n", stderr), 2;
  const std::string out = bench::scratch();
  const auto run = [&](int workers) {
    return bench::call(
        {argv[1], "run", argv[2], "--no-baseline", "--out", out, "--set", fmt::format("cluster.workers={}", workers)});
  };
  const bench::Used few = run(10);
  const bench::Used many = run(10'000);
  fmt::print("10,000 workers on a star, one mapreduce step: {:.2f} s in all; {:.1f} KiB a rank, host included\n",
             many.real_s, (many.peak_kib - few.peak_kib) / (10'000 - 10));
}
