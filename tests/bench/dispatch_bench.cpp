/// Measures the cost of one operation to the timeline, in nanoseconds. Usage: dispatch_bench [repetitions]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <vector>

#include "values/dispatcher.h"
#include "values/tensor.h"

namespace {

using namespace simgrad::values;
using Clock = std::chrono::steady_clock;

double elapsed_s(Clock::time_point since) { return std::chrono::duration<double>(Clock::now() - since).count(); }

void report(std::string_view what, double seconds, int repetitions) {
  std::printf("%-40.*s %8.0f ns\n", static_cast<int>(what.size()), what.data(), 1e9 * seconds / repetitions);
}

Tensor descend(Dispatcher& dispatcher, const Tensor& w, const Tensor& g, double lr, double seconds) {
  const std::uint64_t key[] = {static_cast<std::uint64_t>(1e6 * lr)};
  const Tensor inputs[] = {w, g};
  const Operation operation{.name = "update", .key = key, .seconds = seconds};
  return dispatcher.dispatch(operation, w.size(), inputs, [lr](auto numbers, std::span<double> result) {
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = numbers[0][i] - lr * numbers[1][i];
  });
}

/// Every rank asks for the same update of the same parameters.
void numbered_hits(std::string_view what, Dispatcher::Options options, int repetitions) {
  Dispatcher dispatcher(options);
  const Tensor w = dispatcher.constant(std::vector<double>(1000, 1.0));
  const Tensor g = dispatcher.constant(std::vector<double>(1000, 2.0));
  std::vector<Tensor> replicas(static_cast<std::size_t>(repetitions));
  const auto start = Clock::now();
  for (Tensor& replica : replicas) replica = descend(dispatcher, w, g, 0.1, 1.0);
  report(what, elapsed_s(start), repetitions);
}

/// Different values: each operation's result is the next one's operand.
void chained(std::string_view what, Dispatcher::Options options, double seconds, int repetitions) {
  Dispatcher dispatcher(options);
  Tensor w = dispatcher.constant(std::vector<double>(16, 1.0));
  const Tensor g = dispatcher.constant(std::vector<double>(16, 2.0));
  const auto start = Clock::now();
  for (int k = 0; k < repetitions; ++k) w = descend(dispatcher, w, g, 0.1, seconds);
  const double dispatched_s = elapsed_s(start);
  if (dispatcher.numbers()) (void)w.value();
  report(what, dispatched_s, repetitions);
  if (options.threads > 0) report("  until the last number is there", elapsed_s(start), repetitions);
}

void adds(std::string_view what, Dispatcher::Options options, int repetitions) {
  Dispatcher dispatcher(options);
  Tensor w = dispatcher.constant(std::vector<double>(16, 1.0));
  const Tensor g = dispatcher.constant(std::vector<double>(16, 2.0));
  const auto start = Clock::now();
  for (int k = 0; k < repetitions; ++k) w += g;
  report(what, elapsed_s(start), repetitions);
}

void sums(std::string_view what, std::size_t terms, std::int64_t size) {
  Dispatcher dispatcher({});
  std::vector<Tensor> parts;
  for (std::size_t k = 0; k < terms; ++k)
    parts.push_back(dispatcher.constant(std::vector<double>(static_cast<std::size_t>(size), 1.0)));
  (void)sum(parts);
  const auto start = Clock::now();
  (void)sum(parts);
  const double bytes = 8.0 * static_cast<double>(size) * static_cast<double>(terms + 1);
  std::printf("%-40.*s %8.2f GB/s\n", static_cast<int>(what.size()), what.data(), 1e-9 * bytes / elapsed_s(start));
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 1'000'000;
  numbered_hits("numbered hit, no threads", {}, repetitions);
  numbered_hits("numbered hit, 2 threads", {.threads = 2}, repetitions);
  adds("inline add of 16 doubles, no threads", {}, repetitions);
  adds("inline add of 16 doubles, 2 threads", {.threads = 2}, repetitions);
  chained("timing only", {.numbers = false}, 1.0, repetitions);
  chained("pool, 2 threads, at most 65536 pending", {.threads = 2}, 1.0, repetitions);
  chained("pool, 2 threads, unbounded", {.threads = 2, .pending_limit = 1 << 30}, 1.0, repetitions);
  sums("sum of 8 tensors of 2 M doubles", 8, 2'000'000);
  sums("sum of 100 tensors of 10000 doubles", 100, 10'000);
}
