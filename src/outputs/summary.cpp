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

std::optional<record::TimeParts> time_by_part(const record::Record& record) {
  // As above: the mean of equal numbers is that number.
  const record::TimeParts* first = nullptr;
  record::TimeParts excess;
  double workers = 0.0, seconds = 0.0, divided_s = 0.0;
  for (const record::RankUse& rank : record.ranks) {
    if (rank.role != "worker") continue;
    if (!first) first = &rank.parts;
    for (std::size_t k = 0; k < record::time_parts; ++k) {
      const auto part = static_cast<record::TimePart>(k);
      excess[part] += rank.parts[part] - (*first)[part];
      divided_s += part == record::TimePart::down ? 0.0 : rank.parts[part];
    }
    seconds += rank.compute_s + rank.communicate_s + rank.wait_s;
    workers += 1.0;
  }
  if (!first || (seconds > 0.0 && !(divided_s > 0.5 * seconds))) return std::nullopt;
  record::TimeParts mean = *first;
  for (std::size_t k = 0; k < record::time_parts; ++k)
    mean[static_cast<record::TimePart>(k)] += excess[static_cast<record::TimePart>(k)] / workers;
  return mean;
}

std::optional<double> final_metric(const record::Record& record) {
  return record.curve.empty() ? std::nullopt : record.curve.back().metric;
}

}  // namespace simgrad::outputs
