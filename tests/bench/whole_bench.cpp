// The program as a whole, from its start to its end, against the same gradients in plain Eigen (plain_eigen.cpp).
//
// whole_bench SIMGRAD PLAIN_EIGEN SCENARIO [rounds]        (tests/bench/full_batch.toml)
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/measure.h"

using namespace simgrad;

namespace {

constexpr double data_bytes = 8.0 * 20000 * 784;

struct Ratios {
  std::vector<double> real, processor;
  double peak_kib = 0.0;

  void add(const bench::Used& used, const bench::Used& plain) {
    real.push_back(used.real_s / plain.real_s);
    processor.push_back(used.processor_s / plain.processor_s);
    peak_kib = std::max(peak_kib, used.peak_kib);
  }
  void print(const std::string& name) const {
    fmt::print("{}: {:.2f} x its time, {:.2f} x its processor time; peak {:.2f} x the data\n", name,
               bench::median(real), bench::median(processor), 1024.0 * peak_kib / data_bytes);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return std::fputs("usage: whole_bench SIMGRAD PLAIN_EIGEN SCENARIO [rounds]\n", stderr), 2;
  const int rounds = argc > 4 ? std::atoi(argv[4]) : 5;
  const std::string out = bench::scratch();
  const auto run = [&](const char* threads) {
    return bench::call({argv[1], "run", argv[3], "--strategy", "allreduce", "--no-baseline", "--force", "--quiet",
                        "--threads", threads, "--jobs", "1", "--out", out});
  };
  std::vector<double> plain_s;
  Ratios without, with_two;
  for (int i = 0; i < rounds; ++i) {
    const bench::Used plain = bench::call({argv[2]});
    plain_s.push_back(plain.real_s);
    without.add(run("0"), plain);
    with_two.add(run("2"), plain);
  }
  fmt::print("plain Eigen: {:.2f} s (medians of {})\n", bench::median(plain_s), rounds);
  without.print("simgrad --threads 0");
  with_two.print("simgrad --threads 2");
  std::filesystem::remove_all(out);
}
