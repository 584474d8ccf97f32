#include "strategies/servers/late_gradients.h"

#include <algorithm>
#include <array>
#include <bit>

#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

LateGradients::LateGradients(const ParameterServer& options, PushService& service)
    : options_(options), service_(service), server_(service.server()) {
  if (options.delay_compensation <= 0.0) return;
  pulled_.assign(static_cast<std::size_t>(server_.workers()), service.state.w);
  service.at_every_answer([this](int worker) { pulled_[static_cast<std::size_t>(worker)] = service_.state.w; });
}

double LateGradients::shares(std::int64_t rows) const {
  return static_cast<double>(server_.batch()) / static_cast<double>(std::max<std::int64_t>(1, rows));
}

LateGradient LateGradients::corrected(const Push& push, std::int64_t staleness) const {
  const Tensor part = service_.decoded(push);
  if (pulled_.empty()) return {part, push.worker, staleness};
  // The part of a share 1/q of the rows is g/q, so that q g_part g_part is its share of the product.
  const double q = shares(server_.rows(push.worker));
  server_.charge(5.0 * static_cast<double>(part.size()), record::Work::update);
  const Tensor& v = pulled_[static_cast<std::size_t>(push.worker)];
  return {compensated(server_.learning().dispatcher(), part, service_.state.w, v, q * options_.delay_compensation),
          push.worker, staleness};
}

void LateGradients::apply(const std::vector<LateGradient>& parts) const {
  std::vector<Tensor> terms;
  std::int64_t rows = 0;
  for (const LateGradient& part : parts) {
    terms.push_back(part.g);
    rows += server_.rows(part.worker);
  }
  const Tensor sum =
      parts.size() > 1 ? service_.sum(std::move(terms)) : service_.gradients().compressor().concluded(terms.front());
  double weight = 1.0;
  if (options_.k_batch)
    weight = shares(rows);
  else if (options_.part == Part::mean)
    weight = server_.workers();
  const std::int64_t divisor = options_.staleness_aware ? std::max<std::int64_t>(1, parts.front().staleness) : 1;
  server_.update(service_.state, weight == 1.0 ? sum : weight * sum, 1.0 / static_cast<double>(divisor));
  for (const LateGradient& part : parts) server_.count(part.worker, part.staleness);
}

Tensor compensated(values::Dispatcher& dispatcher, const Tensor& g, const Tensor& w, const Tensor& v, double lambda) {
  if (w.identity() == v.identity()) return g;
  const std::array inputs{g, w, v};
  const std::array key{std::bit_cast<std::uint64_t>(lambda)};
  const values::Operation operation{
      .name = "compensate_delay", .key = key, .seconds = 3e-9 * static_cast<double>(g.size()), .overwrites = 1};
  return dispatcher.dispatch(operation, g.size(), inputs,
                             [lambda](std::span<const std::span<const double>> in, std::span<double> out) {
                               for (std::size_t i = 0; i < out.size(); ++i)
                                 out[i] = in[0][i] + lambda * in[0][i] * in[0][i] * (in[1][i] - in[2][i]);
                             });
}

}  // namespace simgrad::strategies
