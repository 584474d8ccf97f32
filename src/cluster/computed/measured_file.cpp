/// The files of measured times: a table, or what nccl-tests and the OSU micro-benchmarks print.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/files.h"
#include "cluster/computed/measured.h"

namespace simgrad::cluster {

namespace {

using Words = std::vector<std::string>;

Words words_of(const std::string& line, char separator) {
  std::string text = line;
  Words words;
  if (separator == ' ') {
    std::istringstream stream(text);
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
  }
  std::istringstream stream(text);
  for (std::string cell; std::getline(stream, cell, separator);) {
    const auto from = cell.find_first_not_of(" \t\r\""), to = cell.find_last_not_of(" \t\r\"");
    words.push_back(from == std::string::npos ? "" : cell.substr(from, to - from + 1));
  }
  return words;
}

std::optional<double> number_in(const std::string& word) {
  double read = 0.0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), read);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(read)) return {};
  return read;
}

std::optional<Measured> collective_named(std::string name) {
  std::erase(name, '_');
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name == "allreduce") return Measured::allreduce;
  if (name == "reducescatter") return Measured::reduce_scatter;
  if (name == "allgather") return Measured::all_gather;
  return {};
}

class MeasuredParser {
 public:
  MeasuredParser(const std::string& file, std::optional<std::int64_t> ranks)
      : file_(file), stream_(base::read_file(file)) {
    if (ranks) said_ranks_ = static_cast<int>(*ranks);
  }

  MeasuredCollectives parse() {
    for (std::string line; std::getline(stream_, line);) {
      ++number_;
      const auto first = line.find_first_not_of(" \t\r");
      if (first == std::string::npos) continue;
      if (line[first] == '#')
        comment(line.substr(first + 1));
      else if (form_ == Form::nccl)
        nccl_row(words_of(line, ' '));
      else if (form_ == Form::osu)
        osu_row(words_of(line, ' '));
      else
        table_row(words_of(line.substr(0, line.find('#')), ','));
    }
    add_section();
    if (times_.empty()) refuse("no row of measured times; expected ranks, bytes and seconds");
    return std::move(times_);
  }

 private:
  enum class Form : unsigned char { table, nccl, osu };
  struct Row {
    int line = 0;
    double bytes = 0.0;
    double seconds = 0.0;
    double algbw = 0.0, busbw = 0.0;  ///< GB/s, of nccl-tests
  };

  [[noreturn]] void refuse(const std::string& text) const {
    throw base::ScenarioError(fmt::format("{}:{}: {}", file_, number_, text));
  }

  /// Lines of nccl-tests and of OSU that say what follows, and two that the user may add.
  void comment(const std::string& text) {
    const Words words = words_of(text, ' ');
    if (words.empty()) return;
    if (words[0] == "Rank" && words.size() > 1) {
      if (!rows_.empty()) add_section();
      form_ = Form::nccl;
      ++listed_ranks_;
    }
    if (words.size() == 2 && (words[0] == "ranks:" || words[0] == "ranks")) {
      add_section();
      said_ranks_ = ranks_in(words[1]);
    }
    if (words.size() == 2 && words[0] == "collective:") {
      add_section();
      collective_ = known(words[1]);
    }
    if (words.size() > 2 && words[0] == "OSU") begin_osu(words[2]);
    for (const std::string& word : words)
      if (word.ends_with("_perf")) {
        add_section();
        collective_ = known(word.substr(word.rfind('/') + 1, word.size() - 5 - (word.rfind('/') + 1)));
      }
    const auto time = std::ranges::find(words, "time");
    if (words[0] == "size" && time != words.end()) {
      form_ = Form::nccl;
      after_time_ = words.end() - time - 1;
    }
  }

  void begin_osu(const std::string& name) {
    add_section();
    form_ = Form::osu;
    collective_ = known(name);
  }

  Measured known(const std::string& name) const {
    const auto found = collective_named(name);
    if (!found) refuse(fmt::format("collective \"{}\"; expected allreduce, reduce_scatter or all_gather", name));
    return *found;
  }

  int ranks_in(const std::string& word) const {
    const auto value = number_in(word);
    if (!value || *value != std::floor(*value) || *value < 2 || *value > 1e7)
      refuse(fmt::format("\"{}\" ranks; expected a whole number of at least 2", word));
    return static_cast<int>(*value);
  }

  double positive(const std::string& word, std::string_view what) const {
    const auto value = number_in(word);
    if (!value) refuse(fmt::format("\"{}\" is no number of {}; expected a number", word, what));
    if (!(*value > 0.0)) refuse(fmt::format("{} {}; expected more than 0", word, what));
    const auto [least, most] = what == "bytes"     ? std::pair(1.0, 1e18)
                               : what == "seconds" ? std::pair(1e-12, 1e9)
                                                   : std::pair(1e-6, 1e15);
    if (*value < least || *value > most)
      refuse(fmt::format("{} {}; expected a number from {} to {}", word, what, least, most));
    return *value;
  }

  void table_row(const Words& cells) {
    if (columns_.empty()) return read_header(cells);
    if (cells.size() != columns_.size()) refuse(fmt::format("{} cells; expected {}", cells.size(), columns_.size()));
    int ranks = 0;
    double bytes = 0.0, seconds = 0.0;
    Measured collective = Measured::allreduce;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (columns_[c] == "ranks") ranks = ranks_in(cells[c]);
      if (columns_[c] == "bytes") bytes = positive(cells[c], "bytes");
      if (columns_[c] == "seconds") seconds = positive(cells[c], "seconds");
      if (columns_[c] == "collective") collective = known(cells[c]);
    }
    add(collective, ranks, bytes, seconds);
  }

  void read_header(const Words& cells) {
    constexpr std::string_view expected = "the columns ranks, bytes, seconds and perhaps collective";
    for (const std::string& cell : cells)
      if (cell != "ranks" && cell != "bytes" && cell != "seconds" && cell != "collective")
        refuse(fmt::format("\"{}\" in the first line; expected {}, or the output of nccl-tests or of an OSU benchmark",
                           cell, expected));
    for (const std::string_view needed : {"ranks", "bytes", "seconds"})
      if (std::ranges::count(cells, needed) != 1)
        refuse(fmt::format("{} columns \"{}\"; expected {}", std::ranges::count(cells, needed), needed, expected));
    columns_ = cells;
  }

  void add(Measured collective, int ranks, double bytes, double seconds) {
    try {
      times_.add(collective, ranks, bytes, seconds);
    } catch (const base::ScenarioError& error) {
      refuse(error.faults().front());
    }
  }

  /// size, count, type, ..., time, algbw, busbw, ...: microseconds, and the columns behind the time are always there.
  void nccl_row(const Words& words) {
    const auto count = static_cast<std::ptrdiff_t>(words.size());
    if (after_time_ < 2 || count < after_time_ + 3)
      refuse(
          fmt::format("{} columns; expected the line of columns (size, count, ..., time, algbw, busbw) and as many "
                      "numbers",
                      count));
    if (words[0] == "0") return;  // a part of a vector that is shorter than the ranks
    const auto time = words.end() - after_time_ - 1;
    const auto rate = [](const std::string& word) { return number_in(word).value_or(0.0); };
    rows_.push_back(
        {number_, positive(words[0], "bytes"), 1e-6 * positive(*time, "microseconds"), rate(time[1]), rate(time[2])});
  }

  void osu_row(const Words& words) {
    if (words.size() < 2)
      refuse(fmt::format("{} columns; expected the size and the latency in microseconds", words.size()));
    rows_.push_back({number_, positive(words[0], "bytes"), 1e-6 * positive(words[1], "microseconds")});
  }

  /// The rows that one program has printed.
  void add_section() {
    if (rows_.empty()) return;
    const int end = std::exchange(number_, rows_.front().line);
    const int ranks = listed_ranks_ > 1 ? listed_ranks_ : said_ranks_;
    if (ranks < 2)
      refuse("the output does not say the number of ranks; expected collectives.ranks, or a line \"# ranks: 8\" above");
    const Measured collective = collective_ ? *collective_ : collective_by_rates(ranks);
    // OSU's size is that of one rank's part.
    const double parts = form_ == Form::osu && collective == Measured::all_gather ? ranks : 1.0;
    for (const Row& row : rows_) {
      number_ = row.line;
      add(collective, ranks, parts * row.bytes, row.seconds);
    }
    number_ = end;
    rows_.clear();
    listed_ranks_ = 0;
    collective_.reset();
  }

  /// nccl-tests' bus bandwidth is 2(n-1)/n times that of the algorithm for an all-reduce, and for no other (n > 2).
  Measured collective_by_rates(int ranks) const {
    const Row& fastest = *std::ranges::max_element(rows_, {}, &Row::algbw);
    const double factor = 2.0 * (ranks - 1) / ranks;
    if (ranks > 2 && fastest.algbw >= 1.0 && std::abs(fastest.busbw / fastest.algbw - factor) < 0.02)
      return Measured::allreduce;
    refuse("the output does not name its collective; expected a line \"# collective: allreduce\" above");
  }

  std::string file_;
  std::istringstream stream_;
  int number_ = 0;
  Form form_ = Form::table;
  Words columns_;  ///< of a table
  std::optional<Measured> collective_;
  int listed_ranks_ = 0, said_ranks_ = 0;
  std::ptrdiff_t after_time_ = 0;  ///< columns behind the first time of nccl-tests
  std::vector<Row> rows_;          ///< of the present output
  MeasuredCollectives times_;
};

}  // namespace

MeasuredCollectives read_measured(const std::string& file, std::optional<std::int64_t> ranks) {
  return MeasuredParser(file, ranks).parse();
}

}  // namespace simgrad::cluster
