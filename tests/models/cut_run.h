// Runs a cut model's segments and steps for all ranks of one process, one chunk after the other.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "base/errors.h"
#include "models/cut_model.h"

namespace simgrad::models::test {

using Numbers = std::vector<double>;

/// Appends to `to` part `part` of each of `rows` samples, which have so many equal parts.
inline void append_part(const Numbers& from, std::size_t row, std::size_t rows, std::size_t part, std::size_t parts,
                        Numbers& to) {
  const std::size_t k = from.size() / rows / parts;
  const auto first = from.begin() + static_cast<std::ptrdiff_t>((row * parts + part) * k);
  to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(k));
}

/// The numbers that one step of a group of ranks has made, after its exchange; and the exchange itself.
inline std::vector<Numbers> exchanged(Step::Then then, std::vector<Numbers> made, std::size_t rows) {
  const std::size_t ranks = made.size();
  if (then == Step::Then::nothing || rows == 0) return made;
  std::vector<Numbers> parts(ranks);
  if (then == Step::Then::gather) {
    for (std::size_t i = 0; i < rows; ++i)
      for (const Numbers& own : made) append_part(own, i, rows, 0, 1, parts[0]);
    return std::vector(ranks, parts[0]);
  }
  if (then == Step::Then::all_to_all || then == Step::Then::all_to_all_back) {
    const bool back = then == Step::Then::all_to_all_back;
    for (std::size_t to = 0; to < ranks; ++to)
      for (std::size_t first = 0; first < (back ? rows : ranks); ++first)
        for (std::size_t second = 0; second < (back ? ranks : rows); ++second)
          if (back)  // block `to` of rank `second`, of which row `first`
            append_part(made[second], to * rows + first, ranks * rows, 0, 1, parts[to]);
          else
            append_part(made[first], second, rows, to, ranks, parts[to]);
    return parts;
  }
  Numbers total = made[0];
  for (std::size_t r = 1; r < ranks; ++r)
    for (std::size_t i = 0; i < total.size(); ++i)
      total[i] = then == Step::Then::max ? std::max(total[i], made[r][i]) : total[i] + made[r][i];
  if (then != Step::Then::sum_shard) return std::vector(ranks, total);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t r = 0; r < ranks; ++r) append_part(total, i, rows, r, ranks, parts[r]);
  return parts;
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
  int context = 1, expert = 1;             ///< expert: divides the rows
  std::vector<double> tensor_weights = {};

  struct Rank {
    Chunk chunk;
    Samples rows;
    Numbers w, gradient;
    std::vector<Segment> segments;
    std::vector<Numbers> in;                 ///< of each segment
    std::vector<std::vector<Numbers>> kept;  ///< of each segment
  };
  std::vector<std::vector<Rank>> chunks =
      {};                         ///< of each chunk its ranks: tensor ranks innermost, expert ranks outermost
  bool ranks_agree = true;        ///< numbers between segments, and gradients of what every rank holds, bit for bit
  std::vector<int> written = {};  ///< how often each number of w has a gradient: 1, tied or not

  const CutModel& cut() const { return *model.cut(); }

  /// The gradient of the whole w.
  Numbers gradient() {
    make_ranks();
    std::vector<Numbers> numbers(static_cast<std::size_t>(tensor * context * expert));
    for (auto& ranks : chunks)
      for (std::size_t s = 0; s < ranks[0].segments.size(); ++s) {
        for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r].in.push_back(numbers[r]);
        if (!ranks[0].segments[s].forward.empty()) numbers = pass(ranks, s, false, numbers);
        for (std::size_t r = 0; r < ranks.size() && !sequence_parallel; ++r)
          ranks_agree &= numbers[r] == numbers[group(r, Among::tensor)[0]];
      }
    std::ranges::fill(numbers, Numbers());
    for (std::size_t c = chunks.size(); c-- > 0;)
      for (std::size_t s = chunks[c][0].segments.size(); s-- > 0;) numbers = pass(chunks[c], s, true, numbers);
    return assembled();
  }

 private:
  static constexpr std::array kinds{Among::tensor, Among::context, Among::expert};

  /// The ranks that share units with rank r, which is one of them.
  std::vector<std::size_t> group(std::size_t r, Among among) const {
    const auto t = static_cast<std::size_t>(tensor), c = static_cast<std::size_t>(context);
    const std::size_t stride = among == Among::tensor ? 1 : among == Among::context ? t : t * c;
    const std::size_t size = among == Among::tensor    ? t
                             : among == Among::context ? c
                                                       : static_cast<std::size_t>(expert);
    const std::size_t first = r - r / stride % size * stride;
    std::vector<std::size_t> ranks;
    for (std::size_t i = 0; i < size; ++i) ranks.push_back(first + i * stride);
    return ranks;
  }

  void make_ranks() {
    for (std::size_t c = 0; c + 1 < borders.size(); ++c) {
      auto& ranks = chunks.emplace_back();
      for (int r = 0; r < tensor * context * expert; ++r) {
        const Chunk chunk{.first_unit = borders[c],
                          .end_unit = borders[c + 1],
                          .tensor = tensor,
                          .tensor_rank = r % tensor,
                          .sequence_parallel = sequence_parallel,
                          .context = context,
                          .context_rank = r / tensor % context,
                          .expert = expert,
                          .expert_rank = r / tensor / context,
                          .tensor_weights = tensor_weights};
        Numbers own;
        for (const auto& [first, count] : cut().parameters_of(problem, chunk))
          own.insert(own.end(), w.begin() + first, w.begin() + first + count);
        Numbers zeros(own.size(), 0.0);
        Samples samples = rows;
        samples.count = rows.count / expert;
        samples.first += chunk.expert_rank * samples.count;
        ranks.push_back({chunk, samples, std::move(own), std::move(zeros), cut().segments(problem, chunk), {}, {}});
        ranks.back().kept.resize(ranks.back().segments.size());
      }
    }
  }

  /// One segment in one direction. numbers: of each rank, what comes in or the derivatives of what goes out.
  std::vector<Numbers> pass(std::vector<Rank>& ranks, std::size_t s, bool backward,
                            const std::vector<Numbers>& numbers) {
    const auto n = static_cast<std::size_t>(ranks[0].rows.count);
    const Segment& first = ranks[0].segments[s];
    const std::vector<Step>& steps = backward ? first.backward : first.forward;
    std::vector<std::vector<Numbers>> made(ranks.size());  // of each rank, of each step
    for (std::size_t k = 0; k < steps.size(); ++k) {
      std::vector<Numbers> results;
      for (std::size_t r = 0; r < ranks.size(); ++r)
        results.push_back(step(ranks[r], s, backward, k, numbers[r], made[r]));
      for (std::size_t r = 0; r < ranks.size(); ++r) {
        const std::vector<std::size_t> among = group(r, steps[k].among);
        if (among[0] != r) continue;
        std::vector<Numbers> own;
        for (const std::size_t member : among) own.push_back(results[member]);
        own = exchanged(steps[k].then, std::move(own), n);
        for (std::size_t i = 0; i < among.size(); ++i) made[among[i]].push_back(std::move(own[i]));
      }
      for (std::size_t r = 0; r < ranks.size() && steps[k].kept; ++r) ranks[r].kept[s].push_back(made[r].back());
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
    const std::vector<std::span<const double>> kept(rank.kept[s].begin(), rank.kept[s].end());
    StepInputs inputs{.w = parameters, .rows = rank.rows, .in = rank.in[s], .made = views};
    if (backward) inputs.d_out = numbers;
    if (backward) inputs.kept = kept;
    inputs.scale = scale;
    inputs.penalty_scale = penalty_scale;
    inputs.format = format;
    const auto count = static_cast<std::size_t>(rank.rows.count) * static_cast<std::size_t>(of.numbers);
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
  /// Sums the gradients that are parts on each rank of a group.
  void sum_parts(std::vector<Rank>& ranks, Among among) {
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const std::vector<std::size_t> members = group(r, among);
      if (members[0] != r || members.size() == 1) continue;
      // With unlike shares the stretches begin elsewhere on each rank.
      const auto of = [&](std::size_t m, std::size_t k) {
        return part(ranks[m], cut().partial(problem, ranks[m].chunk, among)[k]);
      };
      for (std::size_t k = 0; k < cut().partial(problem, ranks[r].chunk, among).size(); ++k) {
        Numbers total(of(r, k).size(), 0.0);
        for (const std::size_t m : members) std::ranges::transform(total, of(m, k), total.begin(), std::plus());
        for (const std::size_t m : members) std::ranges::copy(total, of(m, k).begin());
      }
    }
  }

  Numbers assembled() {
    for (auto& ranks : chunks)
      for (const Among among : kinds) sum_parts(ranks, among);
    for (std::size_t r = 0; r < chunks.front().size(); ++r) {
      Rank &first = chunks.front()[r], &last = chunks.back()[r];
      const ParameterStretch a = cut().tied(problem, first.chunk), b = cut().tied(problem, last.chunk);
      base::check(a.count == b.count, "both ends have the tied stretch");
      if (a.count > 0) add_up(part(first, a), part(last, b));
    }
    Numbers whole(w.size(), 1e300);
    written.assign(w.size(), 0);
    for (auto& ranks : chunks)
      for (std::size_t r = 0; r < ranks.size(); ++r) write(ranks, r, whole);
    return whole;
  }

  void write(std::vector<Rank>& ranks, std::size_t r, Numbers& whole) {
    Rank& rank = ranks[r];
    std::vector<bool> copy(rank.w.size(), false);
    for (const Among among : kinds) {
      const std::size_t first = group(r, among)[0];
      if (first == r) continue;
      const std::vector<ParameterStretch> own = cut().replicated(problem, rank.chunk, among),
                                          others = cut().replicated(problem, ranks[first].chunk, among);
      for (std::size_t k = 0; k < own.size(); ++k) {
        std::fill_n(copy.begin() + own[k].first, own[k].count, true);
        ranks_agree &= std::ranges::equal(part(ranks[first], others[k]), part(rank, own[k]));
      }
    }
    const ParameterStretch tied = cut().tied(problem, rank.chunk);
    if (rank.chunk.first_unit > 0) std::fill_n(copy.begin() + tied.first, tied.count, true);
    std::size_t j = 0;
    for (const auto& [from, count] : cut().parameters_of(problem, rank.chunk))
      for (std::int64_t i = from; i < from + count; ++i, ++j) {
        if (copy[j]) continue;
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
