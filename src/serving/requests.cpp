#include "serving/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <string_view>

#include "base/errors.h"
#include "base/files.h"
#include "base/random.h"

namespace simgrad::serving {

namespace {

constexpr std::string_view header = "arrival_s,prompt_tokens,output_tokens";

/// One row of a trace.
class Row {
 public:
  Row(const std::string& file, int line, std::string_view text) : file_(file), line_(line), text_(text) {}

  Request request() {
    Request request{.arrival_s = number("arrival_s", 0.0, 1e9), .prompt_tokens = 1, .output_tokens = 1};
    request.prompt_tokens = static_cast<std::int64_t>(whole("prompt_tokens"));
    request.output_tokens = static_cast<std::int64_t>(whole("output_tokens"));
    if (at_ <= text_.size()) refuse(at_, fmt::format("expected the three cells {}", header));
    return request;
  }
  [[noreturn]] void refuse(std::size_t at, const std::string& text) const {
    throw base::ScenarioError(fmt::format("{}:{}:{}: {}", file_, line_, at + 1, text));
  }

 private:
  double whole(std::string_view name) {
    const std::size_t begun = at_;
    const double value = number(name, 1.0, 1e7);
    if (value != std::floor(value)) refuse(begun, fmt::format("{} = {}; expected a whole number", name, value));
    return value;
  }
  double number(std::string_view name, double least, double most) {
    const std::size_t begun = at_;
    if (begun > text_.size()) refuse(text_.size(), fmt::format("no {}; expected the cells {}", name, header));
    const std::size_t end = std::min(text_.find(',', begun), text_.size());
    const std::string_view cell = text_.substr(begun, end - begun);
    at_ = end + 1;
    double value = 0.0;
    const auto [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || stop != cell.data() + cell.size() || !(value >= least && value <= most))
      refuse(begun, fmt::format("{} = \"{}\"; expected a number from {} to {}", name, cell, least, most));
    return value;
  }

  const std::string& file_;
  int line_;
  std::string_view text_;
  std::size_t at_ = 0;
};

std::vector<Request> read_trace(const std::string& file, const std::optional<std::int64_t>& most) {
  std::istringstream stream(base::read_file(file));
  std::vector<Request> all;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    Row row(file, number, line);
    if (number == 1 && line != header) row.refuse(0, fmt::format("expected the header \"{}\"", header));
    if (number == 1 || line.empty()) continue;
    if (most && std::cmp_equal(all.size(), *most)) break;
    all.push_back(row.request());
    if (all.size() > 1 && all.back().arrival_s < all[all.size() - 2].arrival_s)
      row.refuse(0, fmt::format("arrival_s = {} is before that of the row above, {}; expected ascending times",
                                all.back().arrival_s, all[all.size() - 2].arrival_s));
  }
  if (all.empty()) throw base::ScenarioError(fmt::format("{}:1:1: no request; expected a row each", file));
  if (most && std::cmp_less(all.size(), *most))
    throw base::ScenarioError(
        fmt::format("{}:1:1: {} requests; expected requests = {} of them", file, all.size(), *most));
  return all;
}

std::int64_t drawn(const Options& options, std::int64_t tokens, base::Stream& stream) {
  const std::int64_t most = options.most(tokens);
  switch (options.lengths) {
    case Lengths::fixed:
      break;
    case Lengths::uniform:
      return 1 + static_cast<std::int64_t>(stream.below(static_cast<std::uint64_t>(most)));
    case Lengths::geometric:
      if (tokens > 1) {
        const double beyond =
            std::floor(std::log1p(-stream.uniform()) / std::log1p(-1.0 / static_cast<double>(tokens)));
        return beyond < static_cast<double>(most) ? 1 + static_cast<std::int64_t>(beyond) : most;
      }
      break;
  }
  return tokens;
}

}  // namespace

std::vector<Request> requests_of(const Options& options, std::uint64_t seed) {
  if (!options.trace.empty()) return read_trace(options.trace, options.requests);
  std::vector<Request> all;
  all.reserve(static_cast<std::size_t>(*options.requests));
  double now = 0.0;
  for (std::int64_t i = 0; i < *options.requests; ++i) {
    base::Stream stream({.seed = seed, .purpose = base::Purpose::requests, .step = static_cast<std::uint64_t>(i)});
    const double gap = -std::log1p(-stream.uniform());
    if (options.arrivals == Arrivals::poisson) now += gap / *options.rate_per_s;
    if (options.arrivals == Arrivals::constant) now = static_cast<double>(i) / *options.rate_per_s;
    Request& request = all.emplace_back(Request{.arrival_s = now, .prompt_tokens = 1, .output_tokens = 1});
    request.prompt_tokens = drawn(options, options.prompt_tokens, stream);
    request.output_tokens = drawn(options, options.output_tokens, stream);
  }
  return all;
}

Expected expected(const Options& options) {
  if (options.trace.empty()) {
    const std::int64_t prompt = options.most(options.prompt_tokens), output = options.most(options.output_tokens);
    return {.rate_per_s = options.rate_per_s.value_or(0.0),
            .prompt_tokens = options.mean(options.prompt_tokens),
            .output_tokens = options.mean(options.output_tokens),
            .longest_prompt = prompt,
            .longest_output = output,
            .longest = prompt + output};
  }
  Expected facts;
  const std::vector<Request> all = requests_of(options, 0);
  for (const Request& request : all) {
    facts.prompt_tokens += static_cast<double>(request.prompt_tokens);
    facts.output_tokens += static_cast<double>(request.output_tokens);
    facts.longest_prompt = std::max(facts.longest_prompt, request.prompt_tokens);
    facts.longest_output = std::max(facts.longest_output, request.output_tokens);
    facts.longest = std::max(facts.longest, request.tokens());
  }
  const auto count = static_cast<double>(all.size());
  facts.prompt_tokens /= count;
  facts.output_tokens /= count;
  if (const double span_s = all.back().arrival_s - all.front().arrival_s; span_s > 0.0)
    facts.rate_per_s = (count - 1.0) / span_s;
  return facts;
}

}  // namespace simgrad::serving
