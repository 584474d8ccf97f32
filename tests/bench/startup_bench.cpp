// Measures the time that simgrad adds to the start of a program that does nothing and is linked to the same libraries.
//
// startup_bench EMPTY SIMGRAD SCENARIO [rounds]        (build/bench/empty build/simgrad tests/bench/start_up.toml)
#include <fmt/format.h>

#include "measure.h"

using namespace simgrad;

int main(int argc, char** argv) {
  if (argc < 4) return std::fputs("usage: startup_bench EMPTY SIMGRAD SCENARIO [rounds]\n", stderr), 2;
  const int rounds = argc > 4 ? std::atoi(argv[4]) : 21;
  const std::string out = bench::scratch();
  const auto call_ms = [](const std::vector<std::string>& words) { return 1e3 * bench::call(words).real_s; };
  std::vector<double> empty;
  std::vector<double> validate;
  std::vector<double> run;
  for (int i = 0; i < rounds; ++i) {
    empty.push_back(call_ms({argv[1]}));
    validate.push_back(call_ms({argv[2], "validate", "--resolved", argv[3]}));
    run.push_back(call_ms({argv[2], "run", argv[3], "--quiet", "--out", out}));
  }
  fmt::print(
      "empty program {:.1f} ms; simgrad validate {:+.1f} ms; 4 workers x 10 steps, baseline included, {:.1f} ms "
      "in all (medians of {})\n",
      bench::median(empty), bench::median(validate) - bench::median(empty), bench::median(run), rounds);
}
