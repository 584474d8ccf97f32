/// How fast the compressors are: GB of float64 input a second on one core, of a million numbers.
///
///     compressors_bench [rounds]
///
/// A code is held as the numbers that its receiver decodes, so that encoding is both; "decode" is what is left to do at
/// the receiver. Ends with 1 if any is below 1 GB/s, top_k and power_sgd excepted.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "bench/measure.h"
#include "training/compressors/random_k.h"

namespace {

namespace bench = simgrad::bench;
using namespace simgrad;

constexpr std::int64_t d = 1 << 20;
constexpr double least_gb_per_s = 1.0;

template <class Work>
double wall_s(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Speeds {
  double encode_gb_per_s = 0.0;
  double decode_gb_per_s = 0.0;
  double bytes_per_number = 0.0;
};

Speeds measure(const training::Compressor& compressor, int rounds) {
  values::Dispatcher dispatcher({});
  std::vector<double> numbers(d);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(static_cast<double>(i) * 0.7);
  training::CompressorMemory memory;
  std::vector<double> encode_s, decode_s;
  Speeds speeds;
  for (int round = 0; round < rounds; ++round) {
    const values::Tensor x = dispatcher.constant(numbers);
    const base::Stream::Key key{
        .seed = 1, .purpose = base::Purpose::compression, .step = static_cast<std::uint64_t>(round)};
    const training::Occasion now{.dispatcher = dispatcher,
                                 .draws = key,
                                 .shared_draws = key,
                                 .parameters = d,
                                 .pieces = {{.count = d, .columns = 1 << 10}}};
    values::Tensor code;
    encode_s.push_back(wall_s([&] {
      code = compressor.encode(x, now, memory);
      code.value();
    }));
    decode_s.push_back(wall_s([&] { values::decoded(code).value(); }));
    speeds.bytes_per_number = code.wire_format().bytes_per_number;
  }
  speeds.encode_gb_per_s = 8e-9 * d / bench::median(encode_s);
  speeds.decode_gb_per_s = 8e-9 * d / bench::median(decode_s);
  return speeds;
}

}  // namespace

namespace {

/// random_k by how much it keeps: few places are sorted, many are marked.
void print_random_k(int rounds) {
  for (const double fraction : {0.001, 0.01, 0.1, 0.5}) {
    training::RandomK compressor;
    compressor.kept.fraction = fraction;
    std::printf("random_k, fraction %-5g encode %9.2f GB/s\n", fraction, measure(compressor, rounds).encode_gb_per_s);
  }
}

}  // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 11;
  bool fast_enough = true;
  for (const auto& entry : training::compressors().entries()) {
    const Speeds speeds = measure(*entry.make(), rounds);
    const bool excepted = entry.about.kind == "top_k" || entry.about.kind == "power_sgd";
    const bool slow = speeds.encode_gb_per_s < least_gb_per_s && !excepted;
    fast_enough = fast_enough && !slow;
    std::printf("%-10.*s encode %9.2f GB/s, decode %12.2f GB/s, %.3f bytes a number%s\n",
                static_cast<int>(entry.about.kind.size()), entry.about.kind.data(), speeds.encode_gb_per_s,
                speeds.decode_gb_per_s, speeds.bytes_per_number, slow ? "  TOO SLOW" : "");
  }
  print_random_k(rounds);
  return fast_enough ? EXIT_SUCCESS : EXIT_FAILURE;
}
