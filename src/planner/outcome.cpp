#include "planner/outcome.h"

#include <array>
#include <cmath>

#include "outputs/prices.h"

namespace simgrad::planner {

using nlohmann::ordered_json;
using record::Status;

namespace {

constexpr std::size_t moments_most = 512;

/// Every k-th evaluation, the first and the last two among them.
std::vector<Moment> thinned(const std::vector<record::Evaluation>& curve) {
  std::vector<Moment> moments;
  const std::size_t every = curve.size() / moments_most + 1;
  for (std::size_t k = 0; k < curve.size(); ++k)
    if (k % every == 0 || k + 2 >= curve.size())
      moments.push_back({static_cast<double>(curve[k].samples), curve[k].simulated_s, curve[k].loss});
  return moments;
}

template <class Number>
ordered_json or_null(const std::optional<Number>& number) {
  return number && std::isfinite(*number) ? ordered_json(*number) : ordered_json(nullptr);
}

std::optional<double> optional_number(const ordered_json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

constexpr std::array all_statuses{Status::reached, Status::stopped, Status::diverged, Status::failed};

}  // namespace

Outcome outcome_of(const experiment::RunPlan& run, const record::Record& record) {
  const outputs::Bill bill = outputs::bill(record, run.settings->prices);
  return {.status = record.status,
          .error = record.error,
          .time_s = record.time_to_target_s.value_or(record.simulated_s),
          .steps = record.steps,
          .samples = static_cast<double>(record.samples),
          .usd = bill.cost_usd,
          .energy_j = bill.energy_j,
          .workers = run.workers,
          .curve = thinned(record.curve)};
}

ordered_json to_json(const Outcome& outcome) {
  ordered_json curve = ordered_json::array();
  for (const Moment& moment : outcome.curve)
    curve.push_back(ordered_json::array({moment.samples, moment.time_s, or_null(moment.loss)}));
  return {{"status", record::name(outcome.status)},
          {"error", outcome.error},
          {"time_s", outcome.time_s},
          {"steps", outcome.steps},
          {"samples", outcome.samples},
          {"usd", or_null(outcome.usd)},
          {"energy_j", or_null(outcome.energy_j)},
          {"workers", outcome.workers},
          {"real_s", outcome.real_s},
          {"curve", std::move(curve)}};
}

Outcome outcome_from_json(const ordered_json& json) {
  Outcome outcome{.status = Status::failed,
                  .error = json.at("error"),
                  .time_s = json.at("time_s"),
                  .steps = json.at("steps"),
                  .samples = json.at("samples"),
                  .usd = optional_number(json.at("usd")),
                  .energy_j = optional_number(json.at("energy_j")),
                  .workers = json.at("workers"),
                  .curve = {},
                  .real_s = json.at("real_s")};
  for (const Status status : all_statuses)
    if (json.at("status") == record::name(status)) outcome.status = status;
  for (const ordered_json& moment : json.at("curve"))
    outcome.curve.push_back({moment.at(0), moment.at(1), optional_number(moment.at(2))});
  return outcome;
}

}  // namespace simgrad::planner
