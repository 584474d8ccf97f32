#include "outputs/summary.h"

namespace simgrad::outputs {

std::string compact(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::optional<std::array<double, 4>> time_parts(const record::Record& record) {
  // From the first worker on, so that the mean of equal numbers is that number, to the last bit.
  std::optional<std::array<double, 4>> first;
  std::array<double, 4> excess{};
  double workers = 0.0;
  for (const auto& rank : record.ranks) {
    if (rank.role != "worker") continue;
    const std::array<double, 4> parts = {rank.compute_s, rank.communicate_s, rank.wait_s, rank.down_s};
    if (!first) first = parts;
    for (std::size_t k = 0; k < parts.size(); ++k) excess[k] += parts[k] - (*first)[k];
    workers += 1.0;
  }
  if (!first) return std::nullopt;
  for (std::size_t k = 0; k < excess.size(); ++k) (*first)[k] += excess[k] / workers;
  return first;
}

std::optional<double> final_metric(const record::Record& record) {
  return record.curve.empty() ? std::nullopt : record.curve.back().metric;
}

}  // namespace simgrad::outputs
