#include "strategies/gossip/mixing/written_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/errors.h"
#include "data/text_file.h"

namespace simgrad::strategies {

namespace {

class MatrixFileParser {
 public:
  explicit MatrixFileParser(const std::string& path) : path_(path) {}

  WrittenMatrix parse() {
    const std::string text = data::text_file(path_);
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t end = std::min(text.find('\n', from), text.size());
      ++line_;
      read(std::string_view(text).substr(from, end - from));
      from = end + 1;
    }
    return std::move(written_);
  }

 private:
  void read(std::string_view line) {
    constexpr std::string_view between = ", \t\r";
    const std::string_view all = line.substr(0, std::min(line.find('#'), line.size()));
    std::vector<double> row;
    std::size_t from = 0;  // the end of the last entry
    const auto skip = [&] {
      const std::size_t at = std::min(all.find_first_not_of(between, from), all.size());
      const auto commas = std::ranges::count(all.substr(from, at - from), ',');
      if (commas > (row.empty() || at == all.size() ? 0 : 1))
        throw base::ScenarioError(fmt::format("{}:{}:{}: found an empty entry between commas; expected a finite number",
                                              path_, line_, all.find(',', from) + 1));
      return at;
    };
    for (std::size_t at = skip(); at < all.size(); at = skip()) {
      const std::string_view word = all.substr(at, std::min(all.find_first_of(between, at), all.size()) - at);
      row.push_back(number(word, at + 1));
      from = at + word.size();
    }
    if (row.empty()) return;
    written_.rows.push_back(std::move(row));
    written_.lines.push_back(line_);
  }

  double number(std::string_view word, std::size_t column) const {
    double value = 0.0;
    const char* end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, value);
    if (stop == end && error == std::errc() && std::isfinite(value)) return value;
    throw base::ScenarioError(
        fmt::format("{}:{}:{}: found \"{}\", expected a finite number", path_, line_, column, word));
  }

  const std::string& path_;
  int line_ = 0;
  WrittenMatrix written_;
};

}  // namespace

WrittenMatrix parse_matrix(const std::string& path) { return MatrixFileParser(path).parse(); }

WrittenMatrix read_matrix(const std::string& path, int P) {
  WrittenMatrix written = parse_matrix(path);
  const auto refuse = [&](std::size_t row, const std::string& text) {
    throw base::ScenarioError(
        fmt::format("{}:{}: {}", path, row < written.lines.size() ? written.lines[row] : 1, text));
  };
  if (!std::cmp_equal(written.rows.size(), P))
    refuse(static_cast<std::size_t>(P),
           fmt::format("a mixing matrix of {} rows for {} workers; expected a row for each of the ranks 0 to {}",
                       written.rows.size(), P, P - 1));
  for (std::size_t i = 0; i < written.rows.size(); ++i) {
    const std::vector<double>& row = written.rows[i];
    if (!std::cmp_equal(row.size(), P))
      refuse(i, fmt::format("row {} of the mixing matrix has {} entries; expected {}, one for each worker", i,
                            row.size(), P));
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    if (std::abs(sum - 1.0) > 1e-9)
      refuse(i, fmt::format("row {} of the mixing matrix sums to {:.12g}; expected 1, for it is an average", i, sum));
  }
  return written;
}

}  // namespace simgrad::strategies
