/// Time of a transformer's forward and backward pass in float32, as a ratio to PyTorch's on the same cores.
///
///     transformer_bench [layers hidden heads sequence vocabulary rows rounds]
///
/// Both have one thread, then both have two: here two ranks' gradients, each of half of the rows, on a thread each.
/// They run in alternation; the median of the rounds' ratios is printed. Without PyTorch (Debian's python3-torch; with
/// libopenblas0-pthread its products are faster) only simgrad's times are.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/measure.h"
#include "models/transformer.h"

namespace {

namespace models = simgrad::models;

struct Sizes {
  std::int64_t layers = 4, hidden = 256, heads = 8, sequence = 128, vocabulary = 256, rows = 16;
  int rounds = 5;
};

Sizes sizes_of(int argc, char** argv) {
  Sizes sizes;
  std::int64_t* const all[] = {&sizes.layers,   &sizes.hidden,     &sizes.heads,
                               &sizes.sequence, &sizes.vocabulary, &sizes.rows};
  for (int i = 1; i < argc && i <= 6; ++i) *all[i - 1] = std::max(1, std::atoi(argv[i]));
  if (argc > 7) sizes.rounds = std::max(1, std::atoi(argv[7]));
  return sizes;
}

double wall_s(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A model, its data and the gradients of the threads.
class Own {
 public:
  explicit Own(const Sizes& sizes) : sizes_(sizes) {
    models::TransformerOptions& options = model_.options;
    options.layers = sizes.layers;
    options.hidden = sizes.hidden;
    options.heads = sizes.heads;
    options.sequence = sizes.sequence;
    problem_ = {.features = sizes.sequence, .vocabulary = sizes.vocabulary};
    for (std::int64_t i = 0; i < sizes.rows * sizes.sequence; ++i)
      x_.push_back(static_cast<double>((i * i * 31 + i * 7) % sizes.vocabulary));
    y_.assign(static_cast<std::size_t>(sizes.rows), 1.0);
    w_.resize(static_cast<std::size_t>(model_.parameters(problem_)));
    model_.initial_values(problem_, 1, w_);
  }

  double seconds(int threads) const {
    std::vector<std::vector<double>> gradients(static_cast<std::size_t>(threads), w_);
    return wall_s([&] {
      std::vector<std::thread> all;
      for (int part = 0; part < threads; ++part)
        all.emplace_back([&, part] {
          const std::int64_t first = sizes_.rows * part / threads, end = sizes_.rows * (part + 1) / threads;
          const models::Samples rows{.features = x_.data(),
                                     .targets = y_.data(),
                                     .columns = sizes_.sequence,
                                     .first = first,
                                     .count = end - first};
          model_.gradient_in(simgrad::values::Format::float32, problem_, rows, w_,
                             1.0 / static_cast<double>(sizes_.rows), 0.0, gradients[static_cast<std::size_t>(part)]);
        });
      for (std::thread& thread : all) thread.join();
    });
  }
  double flops() const { return model_.gradient_flops(problem_, sizes_.rows); }
  std::size_t parameters() const { return w_.size(); }

 private:
  Sizes sizes_;
  models::Transformer model_;
  models::Problem problem_;
  std::vector<double> x_, y_, w_;
};

/// PyTorch's seconds for one pass, by the script beside this file; nothing without PyTorch.
std::optional<double> torch_seconds(const Sizes& sizes, int threads) {
  const std::string command =
      "/usr/bin/python3 -B '" SIMGRAD_SOURCE_DIR "/tests/bench/transformer_bench.py' " + std::to_string(threads) + " " +
      std::to_string(sizes.layers) + " " + std::to_string(sizes.hidden) + " " + std::to_string(sizes.heads) + " " +
      std::to_string(sizes.sequence) + " " + std::to_string(sizes.vocabulary) + " " + std::to_string(sizes.rows);
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (!pipe) return {};
  double seconds = 0.0;
  const bool read = std::fscanf(pipe, "%lf", &seconds) == 1;
  return pclose(pipe) == 0 && read ? std::optional(seconds) : std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  const Sizes sizes = sizes_of(argc, argv);
  const Own own(sizes);
  std::printf("%zu parameters, %.2f Gflop a pass\n", own.parameters(), own.flops() / 1e9);
  for (const int threads : {1, 2}) {
    own.seconds(threads);  // once unmeasured: the first touch of pages
    std::vector<double> own_s, torch_s, ratios;
    for (int round = 0; round < sizes.rounds; ++round) {
      own_s.push_back(std::min(own.seconds(threads), own.seconds(threads)));
      const auto other = torch_seconds(sizes, threads);
      if (!other) continue;
      torch_s.push_back(*other);
      ratios.push_back(*other / own_s.back());
    }
    std::printf("%d thread%s: simgrad %.1f ms (%.1f GF/s)", threads, threads == 1 ? "" : "s",
                1e3 * simgrad::bench::median(own_s), own.flops() / simgrad::bench::median(own_s) / 1e9);
    if (ratios.empty())
      std::printf("; no PyTorch here to compare with\n");
    else
      std::printf(", PyTorch %.1f ms: %.2f of PyTorch's speed\n", 1e3 * simgrad::bench::median(torch_s),
                  simgrad::bench::median(ratios));
  }
}
