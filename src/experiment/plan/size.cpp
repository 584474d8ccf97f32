#include "experiment/plan/size.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "base/errors.h"

namespace simgrad::experiment {

using scenario::Axis;

namespace {

/// A product of any length, exact: its decimal digits, the last one first.
class Product {
 public:
  void multiply(std::uint64_t factor) {
    std::uint64_t carry = 0;
    for (char& digit : digits_) {
      carry += factor * static_cast<std::uint64_t>(digit - '0');  // factors are lengths of lists: far below 2^60
      digit = static_cast<char>('0' + carry % 10);
      carry /= 10;
    }
    for (; carry > 0; carry /= 10) digits_ += static_cast<char>('0' + carry % 10);
  }
  std::string text() const { return {digits_.rbegin(), digits_.rend()}; }
  bool above(std::size_t bound) const {
    const std::string limit = std::to_string(bound), value = text();
    return value.size() != limit.size() ? value.size() > limit.size() : value > limit;
  }

 private:
  std::string digits_ = "1";
};

/// "cluster.workers: 100 values, cluster.bandwidth with cluster.latency: 20 values".
std::string lengths(const std::vector<Dimension>& dimensions) {
  std::string text;
  for (const Dimension& dimension : dimensions) {
    std::string keys;
    for (const Axis* axis : dimension.axes) keys += (keys.empty() ? "" : " with ") + axis->key;
    text += fmt::format("{}{}: {} value{}", text.empty() ? "" : ", ", keys, dimension.size(),
                        dimension.size() == 1 ? "" : "s");
  }
  return text;
}

std::string counted(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

constexpr const char* remedy =
    "take fewer values or seeds, or split them over several commands; shards do not help, because each of them plans "
    "the "
    "whole experiment";

}  // namespace

std::vector<Dimension> dimensions(const std::vector<Axis>& axes) {
  std::vector<Dimension> all;
  for (const Axis& axis : axes) {
    const auto same = std::ranges::find_if(
        all, [&](const Dimension& dimension) { return axis.zip != 0 && dimension.axes.front()->zip == axis.zip; });
    if (same == all.end())
      all.push_back({{&axis}});
    else
      same->axes.push_back(&axis);
  }
  return all;
}

void refuse_too_many(const std::string& file, const std::vector<Axis>& axes, std::size_t strategies,
                     std::size_t seeds) {
  const std::vector<Dimension> all = dimensions(axes);
  Product points;
  for (const Dimension& dimension : all) points.multiply(dimension.size());
  Product runs = points;
  runs.multiply(std::max<std::size_t>(strategies, 1));
  runs.multiply(std::max<std::size_t>(seeds, 1));
  const bool too_many_points = points.above(points_most);
  if (!too_many_points && !runs.above(runs_most)) return;
  const std::string bound = too_many_points ? fmt::format("{} points", points_most) : fmt::format("{} runs", runs_most);
  throw base::ScenarioError(fmt::format(
      "{}: the grid has {} point{} ({}), which with {} and {} are {} runs; at most {} are planned: {}", file,
      points.text(), points.text() == "1" ? "" : "s", all.empty() ? "no axis" : lengths(all),
      counted(strategies, "strategy", "strategies"), counted(seeds, "seed", "seeds"), runs.text(), bound, remedy));
}

void refuse_too_many_runs(const std::string& file, std::size_t runs) {
  if (runs > runs_most)
    throw base::ScenarioError(
        fmt::format("{}: the experiment has {} runs; at most {} are planned: {}", file, runs, runs_most, remedy));
}

}  // namespace simgrad::experiment
