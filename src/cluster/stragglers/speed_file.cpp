#include "cluster/stragglers/speed_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <string_view>

#include "base/errors.h"
#include "base/files.h"

namespace simgrad::cluster {

namespace {

class Repeated final : public SpeedChanges {
 public:
  Repeated(std::vector<SpeedChange> once, std::optional<double> period_s)
      : once_(std::move(once)), period_s_(period_s) {}

  std::optional<SpeedChange> next() override {
    if (at_ == once_.size()) {
      if (!period_s_) return {};
      at_ = 0;
      ++round_;
    }
    const SpeedChange& change = once_[at_++];
    const double at_s = change.at_s + static_cast<double>(round_) * period_s_.value_or(0.0);
    // So late that doubles do not tell one date from the next: nothing changes any more.
    if (round_ > 0 && !(at_s > last_s_ && std::isfinite(at_s))) {
      once_.clear();
      period_s_.reset();
      at_ = 0;
      return {};
    }
    last_s_ = at_s;
    return SpeedChange{at_s, change.factor};
  }

 private:
  std::vector<SpeedChange> once_;
  std::optional<double> period_s_;
  std::size_t at_ = 0;
  std::int64_t round_ = 0;
  double last_s_ = 0.0;
};

/// One file as it is read, line by line.
class Parser {
 public:
  explicit Parser(const std::string& file) : file_(file), stream_(base::read_file(file)) {}

  SpeedFile parse() {
    while (next_line()) {
      if (!csv_) csv_ = line_.find(',') != std::string::npos;
      if (*csv_)
        csv_row();
      else
        profile_line();
    }
    if (file_read_.all.empty() && file_read_.by_rank.empty()) refuse("no date and factor in it");
    set_period();
    return std::move(file_read_);
  }

 private:
  [[noreturn]] void refuse(const std::string& text) const {
    throw base::ScenarioError(fmt::format("{}:{}: {}", file_, number_, text));
  }

  /// The next line that holds something, without its comment.
  bool next_line() {
    while (std::getline(stream_, line_)) {
      ++number_;
      line_.resize(std::min(line_.size(), line_.find('#')));
      if (line_.find_first_not_of(" \t\r") != std::string::npos) return true;
    }
    return false;
  }

  double value(std::string_view text, const char* what) const {
    const auto from = text.find_first_not_of(" \t\r");
    const auto to = text.find_last_not_of(" \t\r");
    double read = 0.0;
    if (from == std::string_view::npos) refuse(fmt::format("no {}", what));
    text = text.substr(from, to - from + 1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(read))
      refuse(fmt::format("\"{}\" is no {}; expected a number", text, what));
    if (read < 0.0) refuse(fmt::format("a {} of {}; expected at least 0", what, read));
    return read;
  }

  void add(std::vector<SpeedChange>& changes, double date, double factor) const {
    if (!changes.empty() && date <= changes.back().at_s)
      refuse(fmt::format("date {} after date {}; expected ascending dates", date, changes.back().at_s));
    changes.push_back({date, factor});
  }

  void profile_line() {
    std::istringstream words(line_);
    std::string first, second, more;
    words >> first >> second;
    if (second.empty() || words >> more) refuse(fmt::format("expected \"date factor\"; found \"{}\"", line_));
    if (first == "PERIODICITY" || first == "LOOPAFTER") {
      if (periodicity_ || loop_after_) refuse("the repetition is said twice");
      (first == "PERIODICITY" ? periodicity_ : loop_after_) = value(second, "duration");
      repetition_line_ = number_;
      return;
    }
    add(file_read_.all, value(first, "date"), value(second, "factor"));
  }

  std::vector<std::string_view> cells() const {
    std::vector<std::string_view> all;
    const std::string_view line = line_;
    for (std::size_t from = 0; from <= line.size();) {
      const auto comma = std::min(line.find(',', from), line.size());
      all.push_back(line.substr(from, comma - from));
      from = comma + 1;
    }
    return all;
  }

  void csv_row() {
    const auto row = cells();
    if (!columns_) {
      std::string header;
      for (const char c : line_)
        if (c != ' ' && c != '\t' && c != '\r') header += c;
      if (header != "date,factor" && header != "date,factor,rank")
        refuse("expected the header \"date,factor\" or \"date,factor,rank\"");
      columns_ = row.size();
      return;
    }
    if (row.size() != *columns_) refuse(fmt::format("{} cells; expected {}", row.size(), *columns_));
    const double date = value(row[0], "date"), factor = value(row[1], "factor");
    if (*columns_ == 2) return add(file_read_.all, date, factor);
    const double rank = value(row[2], "rank");
    if (rank != std::floor(rank) || rank > 1e6) refuse(fmt::format("{} is no rank", rank));
    add(file_read_.by_rank[static_cast<int>(rank)], date, factor);
  }

  void set_period() {
    if (!periodicity_ && !loop_after_) return;
    number_ = repetition_line_;
    const std::vector<SpeedChange>& once = file_read_.all;
    if (once.empty()) refuse("a repetition of nothing");
    const double last = once.back().at_s;
    file_read_.period_s = periodicity_ ? *periodicity_ : last + *loop_after_;
    if (!std::isfinite(*file_read_.period_s))
      refuse(fmt::format("a repetition {} s after the date {} s; expected a smaller number", *loop_after_, last));
    if (*file_read_.period_s <= last - once.front().at_s || *file_read_.period_s <= 0.0)
      refuse(fmt::format("a period of {} s, but the dates span {} s; expected a longer one", *file_read_.period_s,
                         last - once.front().at_s));
    if (!(once.front().at_s + *file_read_.period_s > last))
      refuse(fmt::format("a period of {} s is below the precision of the date {} s; expected a longer one",
                         *file_read_.period_s, last));
    if (std::ranges::all_of(once, [](const SpeedChange& change) { return change.factor == 0.0; }))
      refuse("all factors are 0, for ever: the host would never compute");
  }

  std::string file_;
  std::istringstream stream_;
  std::string line_;
  int number_ = 0;
  std::optional<bool> csv_;
  std::optional<std::size_t> columns_;
  std::optional<double> periodicity_, loop_after_;
  int repetition_line_ = 0;
  SpeedFile file_read_;
};

}  // namespace

std::unique_ptr<SpeedChanges> SpeedFile::of_rank(std::optional<int> worker) const {
  const auto own = worker ? by_rank.find(*worker) : by_rank.end();
  const std::vector<SpeedChange>& changes = own == by_rank.end() ? all : own->second;
  if (changes.empty()) return nullptr;
  return std::make_unique<Repeated>(changes, period_s);
}

SpeedFile read_speed_file(const std::string& file) { return Parser(file).parse(); }

}  // namespace simgrad::cluster
