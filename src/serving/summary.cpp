#include "serving/summary.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace simgrad::serving {

namespace {

double quantile(const std::vector<double>& ascending, double q) {
  const double place = q * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  return ascending[below] + (place - std::floor(place)) * (ascending[above] - ascending[below]);
}

/// The mean time between two tokens of an answer; nothing for a single one.
std::optional<double> tpot_s(const record::ServedRequest& request) {
  if (request.output_tokens < 2) return {};
  return (request.end_s - request.first_token_s) / static_cast<double>(request.output_tokens - 1);
}

bool within(const record::ServedRequest& request, const Options& options) {
  const bool first = !options.ttft_limit_s || request.first_token_s - request.arrival_s <= *options.ttft_limit_s;
  return first && (!options.tpot_limit_s || tpot_s(request).value_or(0.0) <= *options.tpot_limit_s);
}

}  // namespace

record::Spread spread_of(std::vector<double> numbers) {
  if (numbers.empty()) return {};
  const double mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
  std::ranges::sort(numbers);
  return {
      .mean = mean, .median = quantile(numbers, 0.5), .p95 = quantile(numbers, 0.95), .p99 = quantile(numbers, 0.99)};
}

namespace {

void set_rates(record::Record& record, double warm_up_s, const TokensChosen& tokens, double end_s) {
  const auto answered_by = [&](double until_s) {
    return std::ranges::count_if(record.requests, [&](const record::ServedRequest& request) {
      return request.end_s >= warm_up_s && request.end_s <= until_s;
    });
  };
  double until_s = record.requests.empty() ? 0.0 : record.requests.back().arrival_s;
  std::int64_t answered = answered_by(until_s), chosen = tokens.in_window;
  if (answered == 0) {
    until_s = end_s;
    answered = answered_by(until_s);
    chosen = tokens.after_warm_up;
  }
  if (!(until_s > warm_up_s)) return;
  record.serving.requests_per_s = static_cast<double>(answered) / (until_s - warm_up_s);
  record.serving.output_tokens_per_s = static_cast<double>(chosen) / (until_s - warm_up_s);
}

}  // namespace

void summarise(record::Record& record, const Options& options, const TokensChosen& tokens, double end_s) {
  record::Serving& serving = record.serving;
  std::vector<double> ttft, tpot, latency, queue;
  std::int64_t good = 0;
  double prompts = 0.0, outputs = 0.0;
  for (const record::ServedRequest& request : record.requests) {
    prompts += static_cast<double>(request.prompt_tokens);
    outputs += static_cast<double>(request.output_tokens);
    if (request.arrival_s < options.warm_up_s) continue;
    ttft.push_back(request.first_token_s - request.arrival_s);
    latency.push_back(request.end_s - request.arrival_s);
    queue.push_back(request.start_s - request.arrival_s);
    if (const auto per_token_s = tpot_s(request)) tpot.push_back(*per_token_s);
    if (within(request, options)) ++good;
  }
  serving.requests = std::ssize(ttft);
  serving.prompt_tokens = prompts;
  serving.output_tokens = outputs;
  set_rates(record, options.warm_up_s, tokens, end_s);
  if ((options.ttft_limit_s || options.tpot_limit_s) && !ttft.empty())
    serving.within_limits = static_cast<double>(good) / static_cast<double>(ttft.size());
  serving.ttft_s = spread_of(std::move(ttft));
  serving.tpot_s = spread_of(std::move(tpot));
  serving.latency_s = spread_of(std::move(latency));
  serving.queue_s = spread_of(std::move(queue));
}

}  // namespace simgrad::serving
