#include "data/markov.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace simgrad::data {

namespace {

constexpr double cells_of_chain_most = 4e6;

double entropy(std::span<const double> p) {
  double sum = 0.0;
  for (const double p_i : p) sum -= p_i > 0.0 ? p_i * std::log(p_i) : 0.0;
  return sum;
}

/// The first number whose cumulated share exceeds a uniform draw.
std::size_t drawn(base::Stream& stream, std::span<const double> p) {
  double left = stream.uniform();
  for (std::size_t i = 0; i + 1 < p.size(); ++i) {
    left -= p[i];
    if (left < 0.0) return i;
  }
  return p.size() - 1;
}

/// Contexts are the last `order` tokens, as the digits of a number; the last token is the last digit.
class Chain {
 public:
  Chain(const Markov& options, std::uint64_t seed)
      : V_(static_cast<std::size_t>(options.vocabulary)), order_(static_cast<std::size_t>(options.order)) {
    contexts_ = 1;
    for (std::size_t i = 0; i < order_; ++i) contexts_ *= V_;
    base::Stream stream = truth_stream(seed);
    next_.resize(contexts_ * V_);
    for (std::size_t context = 0; context < contexts_; ++context) {
      double sum = 0.0;
      for (std::size_t v = 0; v < V_; ++v)
        sum += next_[context * V_ + v] = std::exp(options.sharpness * stream.normal());
      for (std::size_t v = 0; v < V_; ++v) next_[context * V_ + v] /= sum;
    }
    settle();
  }

  std::size_t contexts() const { return contexts_; }
  std::span<const double> stationary() const { return stationary_; }
  std::span<const double> next(std::size_t context) const { return std::span(next_).subspan(context * V_, V_); }
  std::size_t after(std::size_t context, std::size_t token) const { return (context * V_ + token) % contexts_; }
  /// Token i of a context, from the oldest on.
  std::size_t token(std::size_t context, std::size_t i) const {
    for (std::size_t behind = order_ - 1; behind > i; --behind) context /= V_;
    return context % V_;
  }

  /// The mean over the predictions of tokens 2 .. T + 1 of their entropies, given all tokens before.
  double floor(std::int64_t T) const {
    double rate = 0.0;
    for (std::size_t context = 0; context < contexts_; ++context) rate += stationary_[context] * entropy(next(context));
    // H(next | j tokens) = H(j + 1 tokens) - H(j tokens) for j < order, by the marginals of the context's last tokens.
    std::vector<double> blocks{0.0};
    for (std::size_t length = 1, size = V_; length <= order_; ++length, size *= V_) {
      std::vector<double> marginal(size, 0.0);
      for (std::size_t context = 0; context < contexts_; ++context) marginal[context % size] += stationary_[context];
      blocks.push_back(entropy(marginal));
    }
    double sum = 0.0;
    for (std::int64_t j = 1; j <= T; ++j) {
      const auto known = static_cast<std::size_t>(j);
      sum += known < order_ ? blocks[known + 1] - blocks[known] : rate;
    }
    return sum / static_cast<double>(T);
  }

 private:
  /// The stationary distribution, by powers of the chain. All of its probabilities are positive, so that there is one.
  void settle() {
    stationary_.assign(contexts_, 1.0 / static_cast<double>(contexts_));
    for (int round = 0; round < 1000; ++round) {
      std::vector<double> moved(contexts_, 0.0);
      for (std::size_t context = 0; context < contexts_; ++context)
        for (std::size_t v = 0; v < V_; ++v) moved[after(context, v)] += stationary_[context] * next_[context * V_ + v];
      double change = 0.0;
      for (std::size_t context = 0; context < contexts_; ++context)
        change += std::abs(moved[context] - stationary_[context]);
      stationary_ = std::move(moved);
      if (change < 1e-14) return;
    }
  }

  std::size_t V_, order_, contexts_;
  std::vector<double> next_;        ///< (contexts x V)
  std::vector<double> stationary_;  ///< (contexts)
};

}  // namespace

void Markov::describe(base::Describer& d) {
  d.integer("vocabulary", vocabulary, "the number of different tokens", base::Bounds::between(2.0, 2000.0));
  d.integer("order", order, "how many tokens the next one depends on", base::Bounds::between(1.0, 8.0));
  d.number("sharpness", sharpness,
           "the standard deviation of the logarithms of the next token's weights; 0: all are equally likely",
           base::Bounds::between(0.0, 50.0));
  if (std::pow(static_cast<double>(vocabulary), static_cast<double>(order + 1)) > cells_of_chain_most)
    d.refuse("order", fmt::format("order = {} over a vocabulary of {} has vocabulary^(order + 1) probabilities; "
                                  "expected at most {:.0f}, so take a smaller order or vocabulary",
                                  order, vocabulary, cells_of_chain_most));
}

Rows Markov::rows(const Request& request) const {
  Dataset set = blank_head(about.kind, Task::text, request);
  set.vocabulary = vocabulary;
  set.target_name = "next";
  Chain chain(*this, request.seed);
  set.loss_floor = chain.floor(set.columns);
  const auto make = [chain = std::move(chain), known = static_cast<std::size_t>(order), seed = request.seed](
                        std::int64_t row, std::span<double> x) {
    base::Stream stream = row_stream(seed, row);
    std::size_t context = drawn(stream, chain.stationary());
    std::size_t token = 0;
    for (std::size_t t = 0; t <= x.size(); ++t) {
      if (t < known) {
        token = chain.token(context, t);
      } else {
        token = drawn(stream, chain.next(context));
        context = chain.after(context, token);
      }
      if (t < x.size()) x[t] = static_cast<double>(token);
    }
    return static_cast<double>(token);
  };
  return {std::move(set), make};
}

}  // namespace simgrad::data
