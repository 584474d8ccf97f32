#include "scenario/formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/units.h"
#include "scenario/formula_argument.h"

namespace simgrad::scenario {

namespace {

constexpr std::string_view range_name = "range", logspace_name = "logspace";

class Formula {
 public:
  explicit Formula(std::string_view text) : text_(trimmed(text)) {
    const auto open = text_.find('(');
    name_ = trimmed(text_.substr(0, open));
    if (!text_.ends_with(')')) refuse("\")\" is missing at the end");
    std::string_view rest = text_.substr(open + 1, text_.size() - open - 2);
    for (auto comma = rest.find(','); comma != std::string_view::npos; comma = rest.find(',')) {
      arguments_.push_back(trimmed(rest.substr(0, comma)));
      rest.remove_prefix(comma + 1);
    }
    if (!arguments_.empty() || !trimmed(rest).empty()) arguments_.push_back(trimmed(rest));
  }

  std::vector<Node> values(const Position& position) {
    std::vector<Node> all = name_ == range_name ? range() : logspace();
    for (Node& node : all) node.position = position;
    return all;
  }

 private:
  [[noreturn]] void refuse(const std::string& fault) const {
    throw std::invalid_argument(fmt::format("{}: {}", text_, fault));
  }

  Argument argument(std::string_view text) const {
    try {
      return parse_argument(text);
    } catch (const std::invalid_argument& fault) {
      refuse(fault.what());
    }
  }
  /// Gives all arguments one unit and one exponent, and notes both.
  void align(std::vector<Argument>& all);
  void find_measure(const std::vector<Argument>& all);
  void scale(Argument& argument, std::int64_t factor) const;
  void refuse_too_many(std::int64_t count) const {
    if (count > formula_values_most)
      refuse(fmt::format("these are {} values; at most {} are allowed, with a larger step or fewer values", count,
                         formula_values_most));
  }

  std::string count_text() const { return arguments_.empty() ? "none" : fmt::to_string(arguments_.size()); }

  std::vector<Node> range();
  std::vector<Node> logspace();
  /// The value of a number in the common unit.
  Node value(double number) const;
  Node value(std::int64_t mantissa) const;

  std::string_view text_;
  std::string_view name_;
  std::vector<std::string_view> arguments_;
  std::optional<base::Unit> measure_;  ///< of quantities
  std::string_view unit_;              ///< the common one
  bool one_unit_ = true;               ///< all arguments are written in it
  bool whole_ = false;                 ///< integers
  int exponent_ = 0;                   ///< the common one
};

void Formula::find_measure(const std::vector<Argument>& all) {
  for (const Argument& each : all) {
    const auto measure = measure_of(each.unit);
    if (!each.unit.empty() && !measure) refuse(fmt::format("\"{}\" in {} is no unit", each.unit, each.text));
    if (&each != &all.front() && each.unit.empty() != all.front().unit.empty())
      refuse(fmt::format("{} and {}: either all of them have a unit, or none has", all.front().text, each.text));
    if (each.unit.empty()) continue;
    if (measure_ && measure_ != measure)
      refuse(fmt::format("{} is {}, but {} is {}; expected one kind of quantity", all.front().text,
                         base::unit_name(*measure_).measures, each.text, base::unit_name(*measure).measures));
    measure_ = measure;
  }
}

void Formula::scale(Argument& argument, std::int64_t factor) const {
  if (__builtin_mul_overflow(argument.number.mantissa, factor, &argument.number.mantissa) ||
      std::abs(argument.number.mantissa) > mantissa_most)
    refuse("the numbers differ by more than 18 digits; write fewer digits");
}

/// The double nearest to mantissa x 10^exponent; 0 if it is larger than a double can be.
double nearest(std::int64_t mantissa, int exponent) {
  const std::string text = fmt::format("{}e{}", mantissa, exponent);
  double number = 0.0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void Formula::align(std::vector<Argument>& all) {
  find_measure(all);
  unit_ = all.front().unit;
  one_unit_ = std::ranges::all_of(all, [&](const Argument& each) { return each.unit == unit_; });
  if (!one_unit_) {
    const auto size = [&](std::string_view unit) { return base::parse_quantity(fmt::format("1{}", unit), *measure_); };
    for (const Argument& each : all)
      if (size(each.unit) < size(unit_)) unit_ = each.unit;
    for (Argument& each : all) {
      const double ratio = size(each.unit) / size(unit_);
      constexpr double rounding = 1e-9, most = 1e15;
      if (std::abs(ratio - std::round(ratio)) > rounding * ratio || ratio > most)
        refuse(fmt::format("{} is no whole number of {}; write all quantities in one unit", each.text, unit_));
      scale(each, std::llround(ratio));
    }
  }
  whole_ = !measure_ && std::ranges::all_of(all, [](const Argument& each) { return each.number.whole; });
  exponent_ = std::ranges::min(all, {}, [](const Argument& each) { return each.number.exponent; }).number.exponent;
  for (Argument& each : all)
    for (; each.number.mantissa != 0 && each.number.exponent > exponent_; --each.number.exponent) scale(each, 10);
  for (const Argument& each : all)
    if (each.number.mantissa != 0 && !std::isnormal(nearest(each.number.mantissa, exponent_)))
      refuse(fmt::format("{} is too large or too small to compute with", each.text));
}

Node Formula::value(double number) const {
  if (!measure_) return {number, {}};
  const std::string text = fmt::format("{}{}", number, unit_);
  return {one_unit_ ? text : base::format_quantity(base::parse_quantity(text, *measure_), *measure_), {}};
}

Node Formula::value(std::int64_t mantissa) const {
  return whole_ ? Node{mantissa, {}} : value(nearest_double(mantissa, exponent_));
}

std::vector<Node> Formula::range() {
  if (arguments_.size() != 2 && arguments_.size() != 3)
    refuse(fmt::format("range takes two or three arguments, as in range(1,8) or range(1,8,2), found {}", count_text()));
  std::vector<Argument> all;
  for (const std::string_view text : arguments_) all.push_back(argument(text));
  if (all.size() == 2 && !all[0].unit.empty())
    refuse("a range of quantities needs a step, as in range(1Gbps,10Gbps,3Gbps)");
  if (all.size() == 2) all.push_back({.text = "1", .number = {.mantissa = 1}, .unit = {}});
  align(all);
  const std::int64_t first = all[0].number.mantissa, last = all[1].number.mantissa, step = all[2].number.mantissa;
  if (step == 0) refuse("the step is 0; expected another one");
  if (first != last && (first < last) != (step > 0))
    refuse(fmt::format("no steps of {} lead from {} to {}; give the step the other sign", all[2].text, all[0].text,
                       all[1].text));
  const std::int64_t count = (last - first) / step + 1;
  refuse_too_many(count);
  std::vector<Node> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(value(first + i * step));
  return values;
}

std::vector<Node> Formula::logspace() {
  if (arguments_.size() != 3)
    refuse(fmt::format("logspace takes three arguments, as in logspace(10us,10ms,4), found {}", count_text()));
  const Argument number = argument(arguments_[2]);
  if (!number.unit.empty() || !number.number.whole || number.number.mantissa < 2)
    refuse(fmt::format("{} is no number of values; expected a whole number from 2 on", number.text));
  const std::int64_t count = number.number.mantissa;
  refuse_too_many(count);
  std::vector<Argument> ends{argument(arguments_[0]), argument(arguments_[1])};
  align(ends);
  if (ends[0].number.mantissa <= 0 || ends[1].number.mantissa <= 0)
    refuse("both ends must be above 0, for no multiples lead across 0");
  const double first = nearest_double(ends[0].number.mantissa, exponent_),
               last = nearest_double(ends[1].number.mantissa, exponent_);
  std::vector<Node> values{value(ends[0].number.mantissa)};
  for (std::int64_t i = 1; i + 1 < count; ++i) {
    const double between = first * std::pow(last / first, static_cast<double>(i) / static_cast<double>(count - 1));
    values.push_back(whole_ ? value(std::int64_t{std::llround(between)})
                            : value(std::stod(fmt::format("{:.6g}", between))));
    if (whole_ && std::get<std::int64_t>(values.back().content) == std::get<std::int64_t>(values[i - 1].content))
      refuse(fmt::format("rounded to whole numbers, {} comes twice; take fewer values, or write {}.0 for fractions",
                         std::llround(between), ends[0].text));
  }
  values.push_back(value(ends[1].number.mantissa));
  return values;
}

}  // namespace

bool is_formula(std::string_view text) {
  const std::string_view name = trimmed(text.substr(0, std::min(text.find('('), text.size())));
  return text.find('(') != std::string_view::npos && (name == range_name || name == logspace_name);
}

std::vector<Node> formula_values(std::string_view text, const Position& position) {
  return Formula(text).values(position);
}

}  // namespace simgrad::scenario
