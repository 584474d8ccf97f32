#include "experiment/plan/value_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "scenario/json.h"

namespace simgrad::experiment {

namespace {

constexpr std::size_t values_shown = 6;
constexpr std::size_t points_shown = 4;

/// The value that a message names: its axis, its TOML, and where it stands.
struct Named {
  std::string key;
  std::string value;
  std::size_t at = std::string::npos;
};

/// The last place where the value stands in the text, not as a part of a longer number or name.
std::size_t place_of_word(std::string_view text, std::string_view value) {
  const auto in_word = [&](std::size_t at) {
    const char letter = text[at];
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
  };
  for (std::size_t at = text.rfind(value); at != std::string_view::npos; at = text.rfind(value, at - 1)) {
    const std::size_t end = at + value.size();
    const bool after = end < text.size() && in_word(end);
    const bool fraction = end + 1 < text.size() && text[end] == '.' && in_word(end + 1);
    if ((at == 0 || (!in_word(at - 1) && text[at - 1] != '.')) && !after && !fraction) return at;
    if (at == 0) break;
  }
  return std::string_view::npos;
}

/// The value that the point has at the fault's place, if the message names it.
Named named_value(const Point& point, const scenario::Faults::Fault& fault) {
  Named best;
  for (const auto& [key, json] : point.parameters.items()) {
    if (point.document.position(key).text() != fault.position.text()) continue;
    const std::string value = scenario::inline_toml(json);
    const std::size_t at = place_of_word(fault.message, value);
    // Two keys of a zip have one place: the message is about the one that it names.
    const std::string_view option = std::string_view(key).substr(key.rfind('.') + 1);
    if (at == std::string::npos || (!best.key.empty() && fault.message.find(option) == std::string::npos)) continue;
    best = {.key = key, .value = value, .at = at};
  }
  return best;
}

std::string some_of(const std::vector<std::string>& texts, std::size_t most, std::string_view separator) {
  std::string text;
  for (std::size_t k = 0; k < std::min(most, texts.size()); ++k)
    text += (k == 0 ? "" : std::string(separator)) + texts[k];
  return texts.size() > most ? fmt::format("{}{}and {} more", text, separator, texts.size() - most) : text;
}

/// The values that the axes take at each point.
class GridOfValues {
 public:
  explicit GridOfValues(const std::vector<const Point*>& points) {
    for (const auto& [key, json] : points.front()->parameters.items()) keys_.push_back(key);
    for (const Point* point : points) {
      std::vector<std::string>& values = values_.emplace_back();
      for (const auto& [key, json] : point->parameters.items()) values.push_back(scenario::inline_toml(json));
    }
    std::vector<std::size_t> all(points.size());
    std::iota(all.begin(), all.end(), 0);
    for (std::size_t axis = 0; axis < keys_.size(); ++axis) counts_.push_back(values_at(axis, all).size());
  }

  /// "; only at cluster.workers = 3, 5": where some points have a fault and others do not. Nothing if all have it, or
  /// if it depends on the axis alone whose value the message names.  cut: there may be more points.
  std::string place_text(const std::vector<std::size_t>& points, const std::string& named, bool cut) const {
    if (points.size() == values_.size()) return {};
    // The axes on which the fault depends, with the values at which it is there.
    std::vector<std::pair<std::size_t, std::set<std::string>>> axes;
    std::vector<std::string> texts;
    for (std::size_t axis = 0; axis < keys_.size(); ++axis) {
      const std::vector<std::string> values = values_at(axis, points);
      if (values.size() == counts_[axis]) continue;
      axes.emplace_back(axis, std::set<std::string>(values.begin(), values.end()));
      if (keys_[axis] != named)
        texts.push_back(fmt::format("{} = {}", keys_[axis], some_of(values, values_shown, ", ")));
    }
    const auto suits = [&](const std::vector<std::string>& values) {
      return std::ranges::all_of(axes, [&](const auto& axis) { return axis.second.contains(values[axis.first]); });
    };
    if (std::ranges::count_if(values_, suits) == static_cast<std::ptrdiff_t>(points.size()))
      return texts.empty() ? "" : (cut ? "; at " : "; only at ") + some_of(texts, texts.size(), " and ");
    return listed_points(points);
  }

 private:
  /// Each value once, in the order of the points.
  std::vector<std::string> values_at(std::size_t axis, const std::vector<std::size_t>& points) const {
    std::vector<std::string> values;
    std::set<std::string> known;
    for (const std::size_t place : points)
      if (const std::string& value = values_[place][axis]; known.insert(value).second) values.push_back(value);
    return values;
  }

  std::string listed_points(const std::vector<std::size_t>& points) const {
    std::vector<std::string> texts;
    for (const std::size_t place : points) {
      std::vector<std::string> values;
      for (std::size_t axis = 0; axis < keys_.size(); ++axis)
        values.push_back(fmt::format("{} = {}", keys_[axis], values_[place][axis]));
      texts.push_back(base::joined(values));
    }
    return fmt::format("; at {} of {} grid points: {}", points.size(), values_.size(),
                       some_of(texts, points_shown, "; "));
  }

  std::vector<std::string> keys_;
  std::vector<std::vector<std::string>> values_;  ///< by point and axis
  std::vector<std::size_t> counts_;               ///< of the values of each axis
};

}  // namespace

void ValueFaults::add(const Point& point, const scenario::Faults& found) {
  const std::size_t place = points_.size();
  points_.push_back(&point);
  for (const scenario::Faults::Fault& fault : found.all()) {
    const Named named = named_value(point, fault);
    std::string message = fault.message;
    if (!named.key.empty()) message.replace(named.at, named.value.size(), "\n");
    const auto [known, fresh] = places_.emplace(fault.position.text() + '\n' + message, faults_.size());
    if (fresh) faults_.push_back({fault.position, fault.message, named.key, {}, {}});
    Fault& first = faults_[known->second];
    if (first.message != fault.message && std::ranges::find(first.others, named.value) == first.others.end())
      first.others.push_back(named.value);
    if (first.points.empty() || first.points.back() != place) first.points.push_back(place);
  }
}

void ValueFaults::tell(scenario::Faults& faults, bool cut) const {
  if (faults_.empty()) return;
  const GridOfValues grid(points_);
  for (const Fault& fault : faults_) {
    const std::size_t more = fault.others.size();
    const std::string others =
        more == 0 ? ""
                  : fmt::format(" (the same fault in {}{} more value{} of the list: {})", cut ? "at least " : "", more,
                                more == 1 ? "" : "s", some_of(fault.others, values_shown, ", "));
    faults.add(fault.position, fault.message + others + grid.place_text(fault.points, fault.key, cut));
  }
}

}  // namespace simgrad::experiment
