#include "outputs/results_reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/memory.h"

namespace simgrad::outputs {
namespace {

using Json = nlohmann::ordered_json;

/// The lines of a regular file, one in memory at a time.
class FileLines {
 public:
  /// Errors: base::EnvironmentError for a file that cannot be opened.
  explicit FileLines(const std::string& path) {
    base::OpenFile opened = base::open_regular(path);
    std::error_code unknown;
    if (const std::uintmax_t size = std::filesystem::file_size(path, unknown); !unknown && size > base::text_bytes_most)
      base::require_memory(static_cast<double>(size), path);  // a line may be all of it
    file_ = fdopen(opened.descriptor(), "rb");
    if (file_) opened.release();
  }
  ~FileLines() {
    std::free(line_);
    if (file_) std::fclose(file_);
  }
  FileLines(const FileLines&) = delete;
  FileLines& operator=(const FileLines&) = delete;

  /// Returns the next line without its end; nothing at the end of the file, and where it cannot be read.
  std::optional<std::string_view> next() {
    if (!file_) return {};
    const ssize_t size = getline(&line_, &room_, file_);
    if (size < 0) return {};
    std::string_view line(line_, static_cast<std::size_t>(size));
    if (line.ends_with('\n')) line.remove_suffix(1);
    return line;
  }
  bool whole() const { return file_ && std::ferror(file_) == 0; }

 private:
  std::FILE* file_ = nullptr;
  char* line_ = nullptr;
  std::size_t room_ = 0;
};

/// The lists of results.json whose items have a line each.
constexpr std::array<std::string_view, 4> lists = {"runs", "baselines", "summary", "counterfactuals"};

/// Reads a document in the layout of write_results_json. Any other layout, and any fault, ends the reading: then the
/// whole document is parsed, which finds the fault and its place.
class ResultsByLine {
 public:
  /// Returns false if the line is not of the layout.
  bool take(std::string_view line) {
    if (list_.empty()) return outside(line);
    const bool more = line.ends_with(',');
    if (line.starts_with("    {") && open_) {
      open_ = more;
      return item(std::string(line.substr(0, line.size() - (more ? 1 : 0))));
    }
    if (open_ || (line != "  ]" && line != "  ],")) return false;
    rest_.append(line) += '\n';
    list_ = {};
    return true;
  }

  /// Returns the results; nothing if a list has no end.
  std::optional<Results> results(const std::string& path) {
    if (!list_.empty()) return {};
    Results all = results_from_json(parse_json(rest_, path));
    // A list that was not met, as in a document on one line, has been read with the rest.
    const auto met = [&](std::string_view name) { return std::ranges::find(seen_, name) != seen_.end(); };
    if (met("runs")) all.runs = std::move(runs_);
    if (met("baselines")) all.baselines = std::move(baselines_);
    if (met("counterfactuals")) all.counterfactuals = std::move(counterfactuals_);
    return all;
  }

 private:
  bool outside(std::string_view line) {
    for (const std::string_view name : lists)
      if (line.starts_with("  \"") && line.substr(3).starts_with(name) && line.substr(3 + name.size()) == "\": [") {
        if (std::ranges::find(seen_, name) != seen_.end()) return false;
        seen_.push_back(name);
        list_ = name;
        open_ = true;
      }
    rest_.append(line) += '\n';
    return true;
  }

  bool item(const std::string& line) {
    const Json json = parse_json(line);
    if (list_ == "runs")
      runs_.push_back(run_in_list(json, list_, runs_.size()));
    else if (list_ == "baselines")
      baselines_.push_back(run_in_list(json, list_, baselines_.size()));
    else if (list_ == "counterfactuals")
      counterfactuals_.push_back(counterfactual_in_list(json, list_, counterfactuals_.size()));
    return true;
  }

  std::string rest_;       ///< the document with empty lists
  std::string_view list_;  ///< the one that is open; empty outside
  bool open_ = false;      ///< another item must follow
  std::vector<std::string_view> seen_;
  std::vector<Run> runs_;
  std::vector<Run> baselines_;
  std::vector<Counterfactual> counterfactuals_;
};

std::optional<Results> results_by_line(const std::string& path) {
  ResultsByLine reading;
  try {
    FileLines lines(path);
    while (const auto line = lines.next())
      if (!reading.take(*line)) return {};
    return lines.whole() ? reading.results(path) : std::nullopt;
  } catch (const base::EnvironmentError&) {
    return {};
  }
}

}  // namespace

Results read_results_json(const std::string& path) {
  if (auto results = results_by_line(path)) return std::move(*results);
  return parsed(path, results_from_json);
}

}  // namespace simgrad::outputs
