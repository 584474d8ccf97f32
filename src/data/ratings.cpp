#include "data/ratings.h"

#include <cmath>

namespace simgrad::data {

namespace {

/// The streams' ranks for factors; the rows have rank 0 and shared values rank 1.
enum class Side : std::uint32_t { user = 2, item = 3 };

base::Stream factors_of(std::uint64_t seed, Side side, std::uint64_t number) {
  return base::Stream(
      {.seed = seed, .purpose = base::Purpose::data, .step = number, .rank = static_cast<std::uint32_t>(side)});
}

}  // namespace

void Ratings::describe(base::Describer& d) {
  const auto many = base::Bounds::between(1.0, 1e9);
  d.integer("users", users, "the number of users", many);
  d.integer("items", items, "the number of items", many);
  d.integer("factors", factors, "the length of the hidden vectors of a user and of an item",
            base::Bounds::between(1.0, 1e4));
  d.number("noise", noise, "the share of a rating's standard deviation that no factor explains",
           base::Bounds::between(0.0, 1.0));
}

Rows Ratings::rows(const Request& request) const {
  Request shaped = request;
  shaped.features = 2;
  Dataset set = blank_head(about.kind, Task::recommendation, shaped);
  set.feature_names = {"user", "item"};
  set.target_name = "rating";
  set.users = users;
  set.items = items;

  const double scale = std::sqrt((1.0 - noise * noise) / static_cast<double>(factors));
  const auto make = [this, scale, seed = request.seed](std::int64_t row, std::span<double> x) {
    base::Stream stream = row_stream(seed, row);
    const std::uint64_t user = stream.below(static_cast<std::uint64_t>(users));
    const std::uint64_t item = stream.below(static_cast<std::uint64_t>(items));
    base::Stream p = factors_of(seed, Side::user, user), q = factors_of(seed, Side::item, item);
    double taste = 0.0;
    for (std::int64_t k = 0; k < factors; ++k) taste += p.normal() * q.normal();
    x[0] = static_cast<double>(user);
    x[1] = static_cast<double>(item);
    return 3.0 + scale * taste + noise * stream.normal();
  };
  return {std::move(set), make};
}

}  // namespace simgrad::data
