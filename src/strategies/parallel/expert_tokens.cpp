#include "strategies/parallel/expert_tokens.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "collectives/all_to_all.h"
#include "collectives/ring.h"
#include "strategies/parallel/part_gradient.h"

namespace simgrad::strategies {

using cluster::Communicator;
using collectives::Extent;
using values::Tensor;
using Then = models::Step::Then;

namespace {

double sum_of(const Tensor& counts) {
  const std::span<const double> all = counts.value();
  return std::accumulate(all.begin(), all.end(), 0.0);
}

/// One of so many equal parts.
Tensor part(const Tensor& x, int k, int parts) {
  const std::int64_t count = x.size() / parts;
  return values::slice(x, k * count, count);
}

/// A part of what stands at places, whose bytes are those of so many tokens.
Tensor of_tokens(const Communicator& comm, const Tensor& numbers, double tokens, std::int64_t width) {
  const Tensor x = comm.on_wire(numbers);
  return values::encoded(x, x.wire_format().bytes(std::llround(tokens) * width));
}

}  // namespace

ExpertTokens::ExpertTokens(const training::Learning& learning, Tensor own, std::int64_t rows, int members,
                           std::int64_t even)
    : learning_(learning), own_(std::move(own)), rows_(rows), members_(members), even_(even) {
  if (members == 1) arrived_ = own_;
}

double ExpertTokens::here() const { return sum_of(arrived_); }

Tensor ExpertTokens::exchanged(const models::Step& step, const Communicator& comm, const Tensor& numbers) {
  const std::int64_t width = numbers.size() / (own_.size() * step.places);
  switch (step.then) {
    case Then::all_to_all:
      return to_experts(comm, numbers, width);
    case Then::all_to_all_back:
      return back(comm, numbers, width);
    case Then::sum:
      return sum(comm, numbers, step.places, width);
    default:
      break;
  }
  base::invariant_broken("tokens are exchanged, or terms of their results summed", std::source_location::current());
}

Tensor ExpertTokens::to_experts(const Communicator& comm, const Tensor& numbers, std::int64_t width) {
  const Tensor copies = values::transposed(numbers, rows_, members_),
               counts = values::transposed(own_, rows_, members_);
  std::vector<Tensor> parts;
  for (int r = 0; r < members_; ++r) {
    const Tensor its_counts = part(counts, r, members_);
    const Tensor both[] = {of_tokens(comm, part(copies, r, members_), sum_of(its_counts), width),
                           values::encoded(its_counts, 0)};
    parts.push_back(values::concatenate(both));
  }
  std::vector<Tensor> all, all_counts;
  for (const Tensor& each : collectives::all_to_all_v(comm, parts, Extent(even_ * width, numbers.wire_format()))) {
    const std::int64_t count = numbers.size() / members_;
    all.push_back(values::decoded(values::slice(each, 0, count)));
    all_counts.push_back(values::decoded(values::slice(each, count, each.size() - count)));
  }
  arrived_ = values::concatenate(all_counts);
  return values::concatenate(all);
}

Tensor ExpertTokens::back(const Communicator& comm, const Tensor& numbers, std::int64_t width) const {
  std::vector<Tensor> parts;
  for (int r = 0; r < members_; ++r)
    parts.push_back(of_tokens(comm, part(numbers, r, members_), sum_of(part(arrived_, r, members_)), width));
  std::vector<Tensor> all = collectives::all_to_all_v(comm, parts, Extent(even_ * width, numbers.wire_format()));
  for (Tensor& each : all) each = values::decoded(each);
  return values::transposed(values::concatenate(all), members_, rows_);
}

/// Sums of the terms that stand at tokens' places, at these places again. Nobody reads the others: they become zeros,
/// so that all tensor ranks have the same numbers.
Tensor ExpertTokens::sum(const Communicator& comm, const Tensor& numbers, std::int64_t places,
                         std::int64_t width) const {
  const std::span<const double> taken = arrived_.value();
  std::vector<Tensor> terms;
  for (std::size_t k = 0; k < taken.size(); ++k)
    terms.push_back(
        values::slice(numbers, static_cast<std::int64_t>(k) * places * width, std::llround(taken[k]) * width));
  const Tensor own = values::concatenate(terms);
  if (own.size() == 0) return numbers;  // as on all tensor ranks
  const Tensor sums = collectives::Ring()(comm, own);
  const Tensor zeros = zeros_on_the_wire(learning_, static_cast<double>(places * width));
  std::vector<Tensor> all;
  std::int64_t at = 0;
  for (std::size_t k = 0; k < taken.size(); ++k) {
    const std::int64_t count = std::llround(taken[k]) * width;
    all.push_back(values::slice(sums, at, count));
    all.push_back(values::slice(zeros, count, zeros.size() - count));
    at += count;
  }
  return values::concatenate(all);
}

std::vector<std::int64_t> assumed_numbers(const models::Step& step, std::int64_t rows) {
  std::vector<std::int64_t> all;
  for (const double numbers : step.assumed) all.push_back(std::llround(static_cast<double>(rows) * numbers));
  return all;
}

std::int64_t assumed_length(const models::Step& step, std::int64_t rows, int expert_rank) {
  const std::vector<std::int64_t> all = assumed_numbers(step, rows);
  if (step.then == Then::all_to_all) return std::accumulate(all.begin(), all.end(), std::int64_t{0});
  return all[static_cast<std::size_t>(expert_rank)] * static_cast<std::int64_t>(all.size());
}

Tensor exchange_assumed(const models::Step& step, std::int64_t rows, const Communicator& comm, const Tensor& numbers) {
  const std::vector<std::int64_t> lengths = assumed_numbers(step, rows);
  if (std::ranges::adjacent_find(lengths, std::not_equal_to()) == lengths.end())
    return collectives::all_to_all(comm, numbers);
  return step.then == Then::all_to_all ? collectives::all_to_all_v(comm, numbers, lengths)
                                       : collectives::all_to_all_v_back(comm, numbers, lengths);
}

}  // namespace simgrad::strategies
