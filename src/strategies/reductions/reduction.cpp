#include "strategies/reductions/reduction.h"

#include <fmt/format.h>

#include "strategies/reductions/krum.h"
#include "strategies/reductions/order_statistics.h"
#include "training/learning/learning.h"

namespace simgrad::strategies {

namespace {

constexpr double seconds_per_flop = 1e-9;

}  // namespace

const base::Registry<Reduction>& reductions() {
  static const base::Registry<Reduction> table({
      base::entry<Reduction, MeanByRows>(),
      base::entry<Reduction, SumOfMeans>(),
      base::entry<Reduction, Minimum>(),
      base::entry<Reduction, Maximum>(),
      base::entry<Reduction, Median>(),
      base::entry<Reduction, TrimmedMean>(),
      base::entry<Reduction, Krum>(),
  });
  return table;
}

void describe_reduce(base::Describer& d, Reduce& reduce, const Compression& compression, std::string_view meaning) {
  d.component("reduce", reduce, meaning);
  if (!reduce->adds() && !compression->says_how_far())
    d.refuse("reduce",
             fmt::format("reduce = \"{}\" compares how large numbers are, but compression by a majority vote sends "
                         "signs alone, and takes the sign of their sum; set scale = \"l1_mean\", or reduce = \"mean\"",
                         reduce.kind()));
}

void refuse_parts(base::Describer& d, const Reduce& reduce, const std::string& cut) {
  if (!cut.empty() && reduce->needs_whole())
    d.refuse("reduce",
             fmt::format("reduce = \"{}\" takes the distances of whole gradients, but {} reduces each part of "
                         "them by itself; leave one of them out",
                         reduce.kind(), cut));
}

std::optional<Refusal> reduce_refusal(const Reduce& reduce, std::int64_t gradients) {
  const std::string why = reduce->refusal(gradients);
  if (why.empty()) return {};
  return Refusal{"reduce", why};
}

std::vector<std::string> reduce_warnings(const Reduce& reduce, std::int64_t gradients) {
  const std::string text = reduce->warning(gradients);
  if (text.empty()) return {};
  return {text};
}

std::int64_t gradients_held(const Reduce& reduce, std::int64_t gradients) {
  return reduce->holds_all() ? gradients : 1;
}

void hold(const Server& server, const Reduce& reduce, std::int64_t numbers) {
  if (reduce->holds_all())
    server.memory().raise(record::MemoryPart::gradients,
                          server.number_bytes().kept_gradient * static_cast<double>(numbers));
}

Tensor reduced(const Server& server, const Reduce& reduce, std::vector<Tensor> vectors) {
  for (Tensor& vector : vectors) vector = values::decoded(vector);
  const std::int64_t n = vectors.front().size(), count = std::ssize(vectors);
  hold(server, reduce, n * count);
  const double flops = reduce->flops(count, n);
  server.charge(flops);
  const std::vector<std::uint64_t> key = reduce->key();
  const values::Operation operation{.name = reduce.kind(), .key = key, .seconds = seconds_per_flop * flops};
  return server.learning().dispatcher().dispatch(operation, n, vectors, reduce->kernel());
}

Tensor reduced(const Server& server, const Reduce& reduce, std::vector<Tensor> parts,
               const std::vector<std::int64_t>& rows) {
  std::vector<Tensor> gradients;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (rows[i] > 0)
      gradients.push_back(static_cast<double>(server.batch()) / static_cast<double>(rows[i]) *
                          values::decoded(parts[i]));
  server.charge(static_cast<double>(std::ssize(gradients) * parts.front().size()));
  return reduced(server, reduce, std::move(gradients));
}

std::vector<std::int64_t> rows_of_workers(const Server& server) {
  std::vector<std::int64_t> rows;
  for (int worker = 0; worker < server.workers(); ++worker) rows.push_back(server.rows(worker));
  return rows;
}

}  // namespace simgrad::strategies
