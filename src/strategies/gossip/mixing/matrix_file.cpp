#include "strategies/gossip/mixing/matrix_file.h"

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

struct Written {
  std::vector<std::vector<double>> rows;
  std::vector<int> lines;  ///< on which line each row stands
};

class MatrixFileParser {
 public:
  explicit MatrixFileParser(const std::string& path) : path_(path) {}

  Written parse() {
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
  Written written_;
};

Written read(const std::string& path, int P) {
  Written written = MatrixFileParser(path).parse();
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

}  // namespace

void MatrixFile::describe(base::Describer& d) {
  d.path("path", path, "the file");
  if (path.empty()) d.refuse("path", "mixing = { kind = \"file\" } reads a matrix from a file; give path = \"...\"");
}

std::string MatrixFile::refusal(const Adjacency& edges) const {
  const int P = static_cast<int>(edges.size());
  if (P == 1) return {};
  try {
    const Written W = read(path, P);
    const Adjacency from = sources(edges);
    for (int i = 0; i < P; ++i)
      for (int j = 0; j < P; ++j) {
        const double entry = W.rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
        if (i == j || entry == 0.0 || std::ranges::binary_search(from[static_cast<std::size_t>(i)], j)) continue;
        return fmt::format(
            "{}:{}: row {} has {} for rank {}, from whom the graph has no edge to rank {}; expected 0, or "
            "graph = \"support\", which is that of the matrix",
            path, W.lines[static_cast<std::size_t>(i)], i, entry, j, i);
      }
  } catch (const base::ScenarioError& error) {
    return error.what();
  }
  return {};
}

MixingMatrix MatrixFile::matrix(const Adjacency& edges, std::span<const int> ranks) const {
  const std::size_t P = ranks.size();
  Written written = P == 1 ? Written{{{1.0}}, {1}} : MatrixFileParser(path).parse();
  const auto at = [&](int rank) { return P == 1 ? std::size_t{0} : static_cast<std::size_t>(rank); };
  const Adjacency from = sources(edges);
  MixingMatrix W;
  for (std::size_t i = 0; i < P; ++i) {
    const std::vector<double>& all = written.rows[at(ranks[i])];
    MixingRow row{.neighbours = from[i], .weights = {}, .targets = edges[i]};
    std::ranges::sort(row.targets);
    std::vector<int> group = row.neighbours;
    group.insert(std::ranges::lower_bound(group, static_cast<int>(i)), static_cast<int>(i));
    for (const int j : group) row.weights.push_back(all[at(ranks[static_cast<std::size_t>(j)])]);
    if (ranks.size() < all.size()) normalize(row.weights);
    W.rows.push_back(std::move(row));
  }
  return W;
}

std::optional<Adjacency> MatrixFile::support(int P) const {
  Adjacency edges(static_cast<std::size_t>(P));
  if (P == 1) return edges;
  const Written W = read(path, P);
  for (int i = 0; i < P; ++i)
    for (int j = 0; j < P; ++j)
      if (i != j && W.rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] != 0.0)
        edges[static_cast<std::size_t>(j)].push_back(i);
  return edges;
}

}  // namespace simgrad::strategies
