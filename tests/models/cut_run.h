// Runs a cut model's segments and steps for all ranks of one process, one chunk after the other.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "base/errors.h"
#include "models/cut_model.h"

namespace simgrad::models::test {

using Numbers = std::vector<double>;

/// What one step of a group of ranks has made, after its exchange; and the exchange itself.
inline std::vector<Numbers> exchanged(Step::Then then, std::vector<Numbers> made, std::size_t rows) {
  const std::size_t ranks = made.size();
  if (then == Step::Then::nothing || rows == 0) return made;
  if (then == Step::Then::gather) {
    Numbers all;
    const std::size_t k = made[0].size() / rows;
    for (std::size_t i = 0; i < rows; ++i)
      for (const Numbers& own : made)
        all.insert(all.end(), own.begin() + static_cast<std::ptrdiff_t>(i * k),
                   own.begin() + static_cast<std::ptrdiff_t>((i + 1) * k));
    return std::vector(ranks, all);
  }
  Numbers total = made[0];
  for (std::size_t r = 1; r < ranks; ++r)
    for (std::size_t i = 0; i < total.size(); ++i)
      total[i] = then == Step::Then::max ? std::max(total[i], made[r][i]) : total[i] + made[r][i];
  if (then != Step::Then::sum_shard) return std::vector(ranks, total);
  std::vector<Numbers> shards(ranks);
  const std::size_t k = total.size() / rows / ranks;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t r = 0; r < ranks; ++r) {
      const auto first = total.begin() + static_cast<std::ptrdiff_t>((i * ranks + r) * k);
      shards[r].insert(shards[r].end(), first, first + static_cast<std::ptrdiff_t>(k));
    }
  return shards;
}

/// A model's gradient computed by chunks.
struct CutRun {
  const Model& model;
  Problem problem;
  Samples rows;
  const Numbers& w;
  double scale = 1.0, penalty_scale = 0.0;
  values::Format format = values::Format::float64;
  int tensor = 1;
  bool sequence_parallel = false;
  std::vector<std::int64_t> borders = {};  ///< units at which chunks begin, from 0, and the number of units

  struct Rank {
    Chunk chunk;
    Numbers w, gradient;
    std::vector<Segment> segments;
    std::vector<Numbers> in;  ///< of each segment
  };
  std::vector<std::vector<Rank>> chunks = {};  ///< of each chunk its tensor ranks
  bool ranks_agree = true;        ///< numbers between segments, and gradients of what every rank holds, bit for bit
  std::vector<int> written = {};  ///< how often each number of w has a gradient: 1, tied or not

  const CutModel& cut() const { return *model.cut(); }

  /// The gradient of the whole w.
  Numbers gradient() {
    make_ranks();
    std::vector<Numbers> numbers(static_cast<std::size_t>(tensor));
    for (auto& ranks : chunks)
      for (std::size_t s = 0; s < ranks[0].segments.size(); ++s) {
        for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r].in.push_back(numbers[r]);
        if (!ranks[0].segments[s].forward.empty()) numbers = pass(ranks, s, false, numbers);
        if (!sequence_parallel)
          ranks_agree &= std::ranges::adjacent_find(numbers, std::not_equal_to()) == numbers.end();
      }
    std::ranges::fill(numbers, Numbers());
    for (std::size_t c = chunks.size(); c-- > 0;)
      for (std::size_t s = chunks[c][0].segments.size(); s-- > 0;) numbers = pass(chunks[c], s, true, numbers);
    return assembled();
  }

 private:
  void make_ranks() {
    for (std::size_t c = 0; c + 1 < borders.size(); ++c) {
      auto& ranks = chunks.emplace_back();
      for (int r = 0; r < tensor; ++r) {
        const Chunk chunk{borders[c], borders[c + 1], tensor, r, sequence_parallel};
        Numbers own;
        for (const auto& [first, count] : cut().parameters_of(problem, chunk))
          own.insert(own.end(), w.begin() + first, w.begin() + first + count);
        Numbers zeros(own.size(), 0.0);
        ranks.push_back({chunk, std::move(own), std::move(zeros), cut().segments(problem, chunk), {}});
      }
    }
  }

  /// One segment in one direction. numbers: of each rank, what comes in or the derivatives of what goes out.
  std::vector<Numbers> pass(std::vector<Rank>& ranks, std::size_t s, bool backward,
                            const std::vector<Numbers>& numbers) {
    const auto n = static_cast<std::size_t>(rows.count);
    const Segment& first = ranks[0].segments[s];
    const std::vector<Step>& steps = backward ? first.backward : first.forward;
    std::vector<std::vector<Numbers>> made(ranks.size());  // of each rank, of each step
    for (std::size_t k = 0; k < steps.size(); ++k) {
      std::vector<Numbers> results;
      for (std::size_t r = 0; r < ranks.size(); ++r)
        results.push_back(step(ranks[r], s, backward, k, numbers[r], made[r]));
      results = exchanged(steps[k].then, std::move(results), n);
      for (std::size_t r = 0; r < ranks.size(); ++r) made[r].push_back(std::move(results[r]));
    }
    std::vector<Numbers> last;
    for (auto& of_rank : made) last.push_back(of_rank.back());
    const double expected = backward ? first.entrance : first.exit;
    base::check(last[0].size() == n * static_cast<std::size_t>(expected), "a segment's numbers are those it says");
    return last;
  }

  Numbers step(Rank& rank, std::size_t s, bool backward, std::size_t k, const Numbers& numbers,
               const std::vector<Numbers>& made) const {
    const Segment& segment = rank.segments[s];
    const Step& of = (backward ? segment.backward : segment.forward)[k];
    const auto at = [&](ParameterStretch stretch) { return rank.w.begin() + stretch.first; };
    const ParameterStretch own{segment.first, segment.count};
    Numbers parameters(at(own), at(own) + own.count);
    parameters.insert(parameters.end(), at(segment.shared), at(segment.shared) + segment.shared.count);
    const std::vector<std::span<const double>> views(made.begin(), made.end());
    StepInputs inputs{.w = parameters, .rows = rows, .in = rank.in[s], .made = views};
    if (backward) inputs.d_out = numbers;
    inputs.scale = scale;
    inputs.penalty_scale = penalty_scale;
    inputs.format = format;
    const auto count = static_cast<std::size_t>(rows.count) * static_cast<std::size_t>(of.numbers);
    Numbers result(count + (of.gradients ? parameters.size() : 0), 1e300);
    cut().run(problem, rank.chunk, s, backward, k, inputs, result);
    if (of.gradients) {
      const double* next = result.data() + count;
      for (const ParameterStretch& stretch : {own, segment.shared})
        for (std::int64_t j = 0; j < stretch.count; ++j)
          rank.gradient[static_cast<std::size_t>(stretch.first + j)] += *next++;
    }
    result.resize(count);
    return result;
  }

  static std::span<double> part(Rank& rank, ParameterStretch stretch) {
    return std::span(rank.gradient)
        .subspan(static_cast<std::size_t>(stretch.first), static_cast<std::size_t>(stretch.count));
  }
  static void add_up(std::span<double> a, std::span<double> b) {
    for (std::size_t j = 0; j < a.size(); ++j) a[j] = b[j] = a[j] + b[j];
  }

  Numbers assembled() {
    for (auto& ranks : chunks)
      for (const ParameterStretch& stretch : cut().partial(problem, ranks[0].chunk, Among::tensor)) {
        Numbers total(static_cast<std::size_t>(stretch.count), 0.0);
        for (Rank& rank : ranks) std::ranges::transform(total, part(rank, stretch), total.begin(), std::plus());
        for (Rank& rank : ranks) std::ranges::copy(total, part(rank, stretch).begin());
      }
    for (std::size_t r = 0; r < static_cast<std::size_t>(tensor); ++r) {
      Rank &first = chunks.front()[r], &last = chunks.back()[r];
      const ParameterStretch a = cut().tied(problem, first.chunk), b = cut().tied(problem, last.chunk);
      base::check(a.count == b.count, "both ends have the tied stretch");
      if (a.count > 0) add_up(part(first, a), part(last, b));
    }
    Numbers whole(w.size(), 1e300);
    written.assign(w.size(), 0);
    for (auto& ranks : chunks)
      for (Rank& rank : ranks) write(ranks[0], rank, whole);
    return whole;
  }

  void write(Rank& first, Rank& rank, Numbers& whole) {
    std::vector<bool> everywhere(rank.w.size(), false), copy = everywhere;
    for (const auto& [from, count] : cut().replicated(problem, rank.chunk, Among::tensor))
      std::fill_n(everywhere.begin() + from, count, true);
    const ParameterStretch tied = cut().tied(problem, rank.chunk);
    if (rank.chunk.first_unit > 0) std::fill_n(copy.begin() + tied.first, tied.count, true);
    std::size_t j = 0;
    for (const auto& [from, count] : cut().parameters_of(problem, rank.chunk))
      for (std::int64_t i = from; i < from + count; ++i, ++j) {
        if (everywhere[j]) ranks_agree &= first.gradient[j] == rank.gradient[j];
        if (copy[j] || (everywhere[j] && &first != &rank)) continue;
        whole[static_cast<std::size_t>(i)] = rank.gradient[j];
        ++written[static_cast<std::size_t>(i)];
      }
  }
};

/// Borders of so many chunks at random.
inline std::vector<std::int64_t> random_borders(std::int64_t units, std::int64_t chunks, std::mt19937& random) {
  std::vector<std::int64_t> inner(static_cast<std::size_t>(units - 1));
  std::iota(inner.begin(), inner.end(), 1);
  std::shuffle(inner.begin(), inner.end(), random);
  inner.resize(static_cast<std::size_t>(chunks - 1));
  inner.push_back(0);
  inner.push_back(units);
  std::ranges::sort(inner);
  return inner;
}

/// |a - b| / |b|
inline double relative_distance(const Numbers& a, const Numbers& b) {
  double difference = 0.0, size = 0.0;
  for (std::size_t j = 0; j < b.size(); ++j) {
    difference += (a[j] - b[j]) * (a[j] - b[j]);
    size += b[j] * b[j];
  }
  return a.size() == b.size() ? std::sqrt(difference / size) : 1e300;
}

}  // namespace simgrad::models::test
