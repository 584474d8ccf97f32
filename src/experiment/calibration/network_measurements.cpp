#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/errors.h"
#include "base/text.h"
#include "data/cells.h"
#include "data/csv_table.h"
#include "data/text_file.h"
#include "experiment/calibration/network_fit.h"

namespace simgrad::experiment {

namespace {

constexpr std::array<std::string_view, 4> known_columns{"bytes", "seconds", "collective", "workers"};
constexpr std::array<std::string_view, 4> timed{"message", "ring", "flat", "rabenseifner"};

/// A table of measurements, whose faults have a line and a column.
class Measurements {
 public:
  explicit Measurements(const std::string& path)
      : path_(path), text_(data::text_file(path)), table_(data::csv_table(text_, {}, path)) {
    for (std::int64_t j = 0; j < table_.columns; ++j) {
      const std::string& name = table_.names[static_cast<std::size_t>(j)];
      const auto known = std::ranges::find(known_columns, name);
      const std::vector<std::string> names(known_columns.begin(), known_columns.end());
      if (known == known_columns.end())
        throw base::ScenarioError(fmt::format("{}:{}:1: unknown column \"{}\"{}", path_, table_.names_line, name,
                                              base::suggestion(name, names)));
      std::int64_t& place = places_[static_cast<std::size_t>(known - known_columns.begin())];
      if (place >= 0)
        throw base::ScenarioError(fmt::format("{}:{}:1: column \"{}\" twice", path_, table_.names_line, name));
      place = j;
    }
    for (const std::size_t needed : {0u, 1u})
      if (places_[needed] < 0)
        throw base::ScenarioError(
            fmt::format("{}:{}:1: there is no column \"{}\"; expected bytes, seconds and, if wanted, "
                        "collective and workers",
                        path_, table_.names_line, known_columns[needed]));
  }

  std::vector<Measured> all() const {
    std::vector<Measured> measured;
    for (std::int64_t row = 0; row < table_.rows(); ++row) {
      Measured& one = measured.emplace_back();
      one.line = table_.lines[static_cast<std::size_t>(row)];
      one.bytes = number(row, 0, 1.0, 1e18);
      one.seconds = number(row, 1, 1e-12, 1e9);
      one.timed = kind(row);
      if (places_[3] >= 0 && !data::trimmed(cell(row, 3)).empty()) {
        const double workers = number(row, 3, 2.0, 1e6);
        if (workers != std::floor(workers)) refuse(row, 3, "a whole number from 2 to 1000000");
        one.workers = static_cast<std::int64_t>(workers);
        if (one.timed == Timed::rabenseifner && (one.workers & (one.workers - 1)) != 0)
          refuse(row, 3, "a power of two for rabenseifner");
      } else if (one.timed != Timed::message) {
        throw base::ScenarioError(
            fmt::format("{}:{}:1: a {} among how many? expected a column \"workers\" with a number", path_, one.line,
                        timed[static_cast<std::size_t>(one.timed)]));
      }
    }
    return measured;
  }

 private:
  std::string_view cell(std::int64_t row, std::size_t which) const { return table_.cell(row, places_[which]); }

  [[noreturn]] void refuse(std::int64_t row, std::size_t which, std::string_view expected) const {
    const std::string_view found = cell(row, which);
    const char* at = found.data();
    while (at > text_.data() && at[-1] != '\n' && at[-1] != '\r') --at;
    throw base::ScenarioError(fmt::format("{}:{}:{}: {} is {}; expected {}", path_,
                                          table_.lines[static_cast<std::size_t>(row)], found.data() - at + 1,
                                          known_columns[which], data::shown(found), expected));
  }

  double number(std::int64_t row, std::size_t which, double least, double most) const {
    const data::Cell found = data::parse_cell(cell(row, which));
    if (found.kind != data::Cell::Kind::number || found.value < least || found.value > most)
      refuse(row, which, fmt::format("a number from {} to {}", least, most));
    return found.value;
  }

  Timed kind(std::int64_t row) const {
    if (places_[2] < 0) return Timed::message;
    const std::string_view text = data::trimmed(cell(row, 2));
    if (text.empty()) return Timed::message;
    const auto known = std::ranges::find(timed, text);
    if (known == timed.end()) refuse(row, 2, "message, ring or flat");
    return static_cast<Timed>(known - timed.begin());
  }

  const std::string& path_;
  std::string text_;
  data::CsvTable table_;
  std::array<std::int64_t, 4> places_{-1, -1, -1, -1};
};

}  // namespace

std::vector<Measured> read_measurements(const std::string& path) { return Measurements(path).all(); }

}  // namespace simgrad::experiment
