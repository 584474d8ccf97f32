#include "strategies/parallel/uneven_batch.h"

#include <fmt/format.h>

namespace simgrad::strategies {

namespace {

/// The nearest divisors of a number at most and at least another one: "3 or 6".
std::string nearest_divisors(std::int64_t number, std::int64_t to) {
  std::int64_t below = to, above = to;
  while (number % below != 0) --below;
  while (above < number && number % above != 0) ++above;
  return number % above != 0 ? fmt::format("{}", below) : fmt::format("{} or {}", below, above);
}

}  // namespace

std::string uneven_batch(std::int64_t rows, std::int64_t replicas, const Parallel& parallel) {
  const std::int64_t count = parallel.micro_batch_count();
  const std::int64_t pieces = replicas * count * parallel.expert, below = rows / pieces * pieces;
  if (rows == below) return {};
  if (parallel.by_stages())
    return fmt::format(
        "a batch of {} rows does not divide into the {} micro-batches of a step, the least common "
        "multiple of stage_replicas; take a batch of {}{} rows",
        rows, pieces, below > 0 ? fmt::format("{} or ", below) : "", below + pieces);
  const std::string uneven =
      fmt::format("a batch of {} rows does not divide into {} micro-batches on each of {} replica{}", rows, count,
                  replicas, replicas == 1 ? "" : "s");
  const std::string rows_that_do =
      fmt::format("{}{} rows", below > 0 ? fmt::format("{} or ", below) : "", below + pieces);
  if (parallel.expert > 1)
    return fmt::format("{}, each shared by expert = {} ranks; take a batch of {}", uneven, parallel.expert,
                       rows_that_do);
  return fmt::format("{}; take a batch of {}, or {}", uneven, rows_that_do,
                     rows % replicas == 0 ? fmt::format("micro_batches = {}", nearest_divisors(rows / replicas, count))
                                          : fmt::format("a number of replicas that divides {}", rows));
}

}  // namespace simgrad::strategies
