#include "data/click_log.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "base/errors.h"
#include "base/huge_pages.h"
#include "base/memory.h"
#include "data/limits.h"
#include "data/zipf.h"

namespace simgrad::data {

namespace {

base::Stream clicks(std::uint64_t seed, std::int64_t row) {
  return base::Stream({.seed = seed, .purpose = base::Purpose::clicks, .step = static_cast<std::uint64_t>(row)});
}

/// A key's weight after the drift has turned it by an angle.
double weight(std::uint64_t seed, std::int64_t key, double cosine, double sine) {
  base::Stream own(
      {.seed = seed, .purpose = base::Purpose::clicks, .step = static_cast<std::uint64_t>(key), .rank = 1});
  const double a = own.normal(), b = own.normal();
  return a * cosine + b * sine;
}

}  // namespace

void ClickLog::describe(base::Describer& d) {
  d.integer("nonzeros", fields, "keys in a row, one for each field", base::Bounds::between(1.0, 1e4));
  d.number("zipf", zipf, "a field's r-th key is drawn with a probability proportional to r^-zipf; 0: all keys alike",
           base::Bounds::between(0.0, 10.0));
  d.number("margin", margin, "the standard deviation of the log-odds: the larger, the better clicks can be predicted",
           base::Bounds::between(0.0, 1000.0));
  d.number("drift", drift,
           "how often over the rows the true weights change completely and a tenth of the keys have been the hottest; "
           "above 0 the rows keep the order of time",
           base::Bounds::between(0.0, 1e6));
}

Dataset ClickLog::load(const Request& request) const {
  if (request.task != Task::classification)
    throw base::ScenarioError(
        "data source \"click_log\" makes classes, but the model predicts something else; use a model that predicts "
        "classes, such as sparse_logistic");
  const std::int64_t d = request.features, F = fields;
  if (d < F)
    throw base::ScenarioError(fmt::format(
        "data source \"click_log\": features = {} for nonzeros = {} fields; expected at least one feature a field", d,
        F));
  if (const std::string fault = too_large_sparse(request.samples, F, d); !fault.empty())
    throw base::ScenarioError(fmt::format("data source \"click_log\": {}", fault));
  const auto rows = static_cast<double>(request.samples);
  base::require_memory(rows * (static_cast<double>(F) * sizeof(std::uint32_t) + sizeof(std::int64_t) + sizeof(double)),
                       fmt::format("data source \"click_log\": {} rows of {} entries", request.samples, F));

  Dataset set;
  set.rows = request.samples;
  set.columns = d;
  set.fields = F;
  set.in_time = drift > 0.0;
  set.classes = 2;
  set.class_names = {"0", "1"};
  set.target_name = "click";
  set.sparse.starts.reserve(static_cast<std::size_t>(set.rows) + 1);
  set.sparse.keys.reserve(static_cast<std::size_t>(set.rows * F));
  base::prefer_huge_pages(set.sparse.keys.data(), set.sparse.keys.capacity() * sizeof(std::uint32_t));
  set.targets.reserve(static_cast<std::size_t>(set.rows));
  set.sparse.starts.push_back(0);
  // Some fields have one key more than the others.
  const std::int64_t fewest = d / F, with_more = d % F;
  const Zipf of_few(zipf, fewest), of_more(zipf, fewest + 1);
  for (std::int64_t row = 0; row < set.rows; ++row) {
    base::Stream stream = clicks(request.seed, row);
    const double label_draw = stream.uniform();
    const double turns = drift * static_cast<double>(row) / static_cast<double>(set.rows);
    const double cosine = std::cos(0.5 * std::numbers::pi * turns), sine = std::sin(0.5 * std::numbers::pi * turns);
    double sum = 0.0;
    for (std::int64_t f = 0; f < F; ++f) {
      const std::int64_t keys = f < with_more ? fewest + 1 : fewest;
      const std::int64_t rank = (f < with_more ? of_more : of_few)(stream)-1;
      const auto moved = static_cast<std::int64_t>(turns * static_cast<double>(keys) / 10.0) % keys;
      const std::int64_t key = ((rank - moved + keys) % keys) * F + f;
      set.sparse.keys.push_back(static_cast<std::uint32_t>(key));
      sum += weight(request.seed, key, cosine, sine);
    }
    set.sparse.starts.push_back(set.sparse.entries());
    const double log_odds = margin / std::sqrt(static_cast<double>(F)) * sum;
    set.targets.push_back(label_draw < 1.0 / (1.0 + std::exp(-log_odds)) ? 1.0 : 0.0);
  }
  return set;
}

}  // namespace simgrad::data
