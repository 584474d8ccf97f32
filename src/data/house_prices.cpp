#include "data/house_prices.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

#include "base/normals.h"

namespace simgrad::data {

namespace {

struct Feature {
  std::string_view name;
  double mean;
  double deviation;
  double sign;       ///< against the latent z_j; makes the signs of the correlations plausible
  double direction;  ///< the sign of its effect on the price
};

// Means lie more than four deviations above zero: normal draws stay positive in practice.
constexpr std::array<Feature, 12> named_features{{
    {"area", 120.0, 25.0, 1.0, 1.0},          // m2
    {"rooms", 5.0, 1.0, 1.0, 1.0},            // half rooms count
    {"age", 45.0, 10.0, -1.0, -1.0},          // years
    {"house_number", 60.0, 12.0, 1.0, 1.0},   // irrelevant by default
    {"distance", 12.0, 2.5, 1.0, -1.0},       // km to the centre
    {"station", 15.0, 3.0, 1.0, -1.0},        // minutes on foot
    {"crime", 30.0, 6.0, -1.0, -1.0},         // reports per year and 1000 people
    {"viewings", 25.0, 5.0, 1.0, 1.0},        // irrelevant by default
    {"plot", 600.0, 120.0, 1.0, 1.0},         // m2
    {"bathrooms", 2.0, 0.4, 1.0, 1.0},        // a half has no bath
    {"energy", 150.0, 30.0, -1.0, -1.0},      // kWh per m2 and year
    {"advert_words", 200.0, 40.0, 1.0, 1.0},  // irrelevant by default
}};
constexpr double price_mean = 400e3;
constexpr double price_deviation = 80e3;

/// The features after the named ones: "feature_13" and so on, in units of their deviation.
Feature feature(std::int64_t j) {
  const auto index = static_cast<std::size_t>(j);
  return index < named_features.size() ? named_features[index] : Feature{{}, 0.0, 1.0, 1.0, 0.0};
}

/// Whether the count floor(share * j) of zeros rises at feature j.
bool zero_weight(double share, std::int64_t j) {
  const auto zeros = [share](std::int64_t count) { return std::floor(share * static_cast<double>(count) + 1e-9); };
  return zeros(j + 1) > zeros(j);
}

/// The standard deviation of sum_j w_j s_j z_j: an innovation of z_j reaches all later features.
double signal_deviation(const std::vector<double>& w, double correlation) {
  double reach = 0.0;
  double variance = 0.0;
  for (auto j = static_cast<std::int64_t>(w.size()) - 1; j >= 0; --j) {
    reach = w[static_cast<std::size_t>(j)] * feature(j).sign + correlation * reach;
    variance += (j == 0 ? 1.0 : 1.0 - correlation * correlation) * reach * reach;
  }
  return std::sqrt(variance);
}

}  // namespace

void HousePrices::describe(base::Describer& d) {
  using base::Bounds;
  d.number("noise", noise, "the share of the price's standard deviation that no feature explains",
           Bounds::between(0.0, 0.99));
  d.number("correlation", correlation,
           "the correlation of neighbouring features; that of features i and j is its |i-j|-th power",
           Bounds::between(0.0, 0.9));
  d.number("zero_weights", zero_weights, "the share of features without an effect on the price",
           Bounds::between(0.0, 0.9));
}

std::vector<double> HousePrices::weights(std::uint64_t seed, std::int64_t features) const {
  std::vector<double> w;
  base::Stream stream = truth_stream(seed);
  for (std::int64_t j = 0; j < features; ++j) {
    const double size = 0.5 + stream.uniform();
    const double tossed = stream.uniform() < 0.5 ? -1.0 : 1.0;
    const double direction = feature(j).direction != 0.0 ? feature(j).direction : tossed;
    w.push_back(zero_weight(zero_weights, j) ? 0.0 : direction * size);
  }
  const double scale = price_deviation * std::sqrt(1.0 - noise * noise) / signal_deviation(w, correlation);
  for (std::int64_t j = 0; j < features; ++j) w[static_cast<std::size_t>(j)] *= scale / feature(j).deviation;
  return w;
}

double HousePrices::constant(std::uint64_t seed, std::int64_t features) const {
  double price = price_mean;
  const std::vector<double> w = weights(seed, features);
  for (std::int64_t j = 0; j < features; ++j) price -= w[static_cast<std::size_t>(j)] * feature(j).mean;
  return price;
}

Rows HousePrices::rows(const Request& request) const {
  Dataset set = blank_head(about.kind, Task::regression, request);
  for (std::size_t j = 0; j < named_features.size() && j < set.feature_names.size(); ++j)
    set.feature_names[j] = named_features[j].name;
  set.target_name = "price";

  std::vector<Feature> features;
  for (std::int64_t j = 0; j < set.columns; ++j) features.push_back(feature(j));
  const double fresh = std::sqrt(1.0 - correlation * correlation);
  const auto make = [this, features, w = weights(request.seed, set.columns), seed = request.seed, fresh](
                        std::int64_t row, std::span<double> x) {
    base::Stream stream = row_stream(seed, row);
    double price = price_mean + price_deviation * noise * stream.normal();
    double z = stream.normal();
    base::fill_normals(stream, x.subspan(1));
    for (std::size_t j = 0; j < x.size(); ++j) {
      if (j > 0) z = correlation * z + fresh * x[j];
      const double away = features[j].deviation * features[j].sign * z;
      x[j] = features[j].mean + away;
      price += w[j] * away;
    }
    return price;
  };
  return {std::move(set), make};
}

}  // namespace simgrad::data
