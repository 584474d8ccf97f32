#include "strategies/gossip/graphs/edge_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/errors.h"
#include "data/text_file.h"

namespace simgrad::strategies {

namespace {

class EdgeListParser {
 public:
  EdgeListParser(const std::string& path, int P, bool directed)
      : path_(path), P_(P), directed_(directed), edges_(static_cast<std::size_t>(P)) {}

  Adjacency edges() {
    const std::string text = data::text_file(path_);
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t end = std::min(text.find('\n', from), text.size());
      ++line_;
      read(std::string_view(text).substr(from, end - from));
      from = end + 1;
    }
    for (auto& own : edges_) {
      std::ranges::sort(own);
      const auto repeated = std::ranges::unique(own);
      own.erase(repeated.begin(), repeated.end());
    }
    return std::move(edges_);
  }

 private:
  void read(std::string_view line) {
    line_text_ = line;
    rest_ = line.substr(0, std::min(line.find('#'), line.size()));
    const std::string_view first = word();
    if (first.empty()) return;
    const int i = rank(first);
    const std::string_view second = word();
    if (second.empty()) refuse(first, fmt::format("one rank, \"{}\", in the line; expected two", first));
    const int j = rank(second);
    if (i == j) refuse(second, fmt::format("an edge from rank {} to itself; every rank is joined to itself anyway", i));
    if (const std::string_view more = word(); !more.empty())
      refuse(more, fmt::format("found \"{}\" after two ranks; weights are the mixing's", more));
    edges_[static_cast<std::size_t>(i)].push_back(j);
    if (!directed_) edges_[static_cast<std::size_t>(j)].push_back(i);
  }

  std::string_view word() {
    constexpr std::string_view blank = " \t\r";
    rest_.remove_prefix(std::min(rest_.find_first_not_of(blank), rest_.size()));
    const std::string_view found = rest_.substr(0, std::min(rest_.find_first_of(blank), rest_.size()));
    rest_.remove_prefix(found.size());
    return found;
  }

  int rank(std::string_view found) {
    int read = 0;
    const char* end = found.data() + found.size();
    const auto [stop, error] = std::from_chars(found.data(), end, read);
    if (stop != end || (error != std::errc() && error != std::errc::result_out_of_range))
      refuse(found, fmt::format("\"{}\" is no rank; expected two whole numbers a line", found));
    if (error != std::errc() || read < 0 || read >= P_)
      refuse(found, fmt::format("rank {}, but there are {} workers; expected 0 to {}", found, P_, P_ - 1));
    return read;
  }

  [[noreturn]] void refuse(std::string_view at, const std::string& text) const {
    throw base::ScenarioError(fmt::format("{}:{}:{}: {}", path_, line_, at.data() - line_text_.data() + 1, text));
  }

  const std::string& path_;
  int P_;
  bool directed_;
  Adjacency edges_;
  int line_ = 0;
  std::string_view line_text_;
  std::string_view rest_;
};

}  // namespace

void EdgeList::describe(base::Describer& d) {
  d.path("path", path, "the file");
  d.flag("directed", one_way, "whether \"i j\" says that i sends to j, and not j to i");
  if (path.empty()) d.refuse("path", "graph = { kind = \"file\" } reads edges from a file; give path = \"...\"");
}

std::string EdgeList::refusal(int P) const {
  if (P == 1) return {};
  try {
    EdgeListParser(path, P, one_way).edges();
  } catch (const base::ScenarioError& error) {
    return error.what();
  }
  return {};
}

Adjacency EdgeList::edges(int P, std::uint64_t) const {
  return P == 1 ? Adjacency(1) : EdgeListParser(path, P, one_way).edges();
}

Adjacency Support::edges(int P, std::uint64_t) const { return Adjacency(static_cast<std::size_t>(P)); }

}  // namespace simgrad::strategies
