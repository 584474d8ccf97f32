/// The four CSV files: views of the same JSON values, so that a number has one spelling everywhere.
#include <algorithm>

#include "outputs/summary.h"

namespace simgrad::outputs {
namespace {

using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;

/// RFC 4180: quotes where the text needs them, doubled within.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

std::string cell(const Json& value) {
  if (value.is_null()) return "";
  // Through compact, as in results.json, for the sake of bytes that are not UTF-8; then without JSON's escapes.
  if (value.is_string()) return quoted(Json::parse(compact(value)).get<std::string>());
  return quoted(compact(value));
}

std::string line(const std::vector<Json>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : ",") + cell(values[i]);
  return text + '\n';
}

void add_once(Names& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

Names parameter_names(const Results& results) {
  Names names;
  for (const Run& run : results.runs) {
    for (const auto& [key, value] : run.parameters.items()) add_once(names, key);
  }
  return names;
}

/// The metrics that occur: a column each, since an accuracy and an R2 do not belong under one name.
Names metric_names(const Results& results) {
  Names names;
  for (const Run& run : results.runs) {
    const auto& curve = run.record.curve;
    const bool occurs = std::any_of(curve.begin(), curve.end(), [](const auto& e) { return e.metric.has_value(); });
    if (occurs) add_once(names, run.record.metric_name);
  }
  return names;
}

std::string joined_notes(const Names& notes) {
  std::string text;
  for (const std::string& note : notes) text += (text.empty() ? "" : "; ") + note;
  return text;
}

/// A column for those who run beside others.
bool interfere(const Results& results) {
  return std::ranges::any_of(results.runs, [](const Run& run) { return run.interference.has_value(); });
}

/// Which of the fields that only some runs have occur.
std::vector<bool> fields_that_occur(const Results& results) {
  std::vector<bool> occur(fields_of_some({}).size());
  for (const Run& run : results.runs) {
    const auto fields = fields_of_some(run);
    for (std::size_t i = 0; i < fields.size(); ++i) occur[i] = occur[i] || fields[i].second;
  }
  return occur;
}

std::string run_line(const Run& run, const Names& parameters, bool with_interference, const std::vector<bool>& occur) {
  const Json fields = summary(run);
  std::vector<Json> values;
  for (const auto& [key, value] : fields.items()) {
    if (key == "parameters") {
      for (const std::string& name : parameters) values.push_back(value.value(name, Json()));
    } else if (key == "notes") {
      values.emplace_back(joined_notes(run.record.notes));
    } else {
      values.push_back(value);
    }
  }
  if (with_interference) values.push_back(number_or_null(run.interference));
  const auto some = fields_of_some(run);
  for (std::size_t i = 0; i < some.size(); ++i)
    if (occur[i]) values.push_back(number_or_null(some[i].second));
  return line(values);
}

}  // namespace

std::string runs_csv(const Results& results) {
  const Names parameters = parameter_names(results);
  const Json fields = summary(Run{});
  std::vector<Json> header;
  for (const auto& [key, value] : fields.items()) {
    if (key == "parameters") {
      for (const std::string& name : parameters) header.emplace_back("param." + name);
    } else {
      header.emplace_back(key);
    }
  }
  const bool with_interference = interfere(results);
  if (with_interference) header.emplace_back("interference");
  const std::vector<bool> occur = fields_that_occur(results);
  for (std::size_t i = 0; i < occur.size(); ++i)
    if (occur[i]) header.emplace_back(fields_of_some({})[i].first);
  std::string text = line(header);
  for (const Run& run : results.runs) text += run_line(run, parameters, with_interference, occur);
  return text;
}

std::string curves_csv(const Results& results) {
  const Names metrics = metric_names(results);
  std::vector<Json> header = {"run", "step", "simulated_s", "samples", "loss"};
  header.insert(header.end(), metrics.begin(), metrics.end());
  header.emplace_back("consensus_distance");
  std::string text = line(header);
  for (const Run& run : results.runs) {
    for (const auto& e : run.record.curve) {
      std::vector<Json> values = {run.id, e.step, number_or_null(e.simulated_s), e.samples, number_or_null(e.loss)};
      for (const std::string& name : metrics) {
        values.push_back(name == run.record.metric_name ? number_or_null(e.metric) : Json());
      }
      values.push_back(number_or_null(e.consensus_distance));
      text += line(values);
    }
  }
  return text;
}

std::string ranks_csv(const Results& results) {
  std::string text = line({"run", "rank", "role", "compute_s", "communicate_s", "wait_s", "down_s", "bytes_sent",
                           "bytes_received", "host_class"});
  for (const Run& run : results.runs) {
    std::size_t index = 0;
    for (const auto& r : run.record.ranks) {
      text += line({run.id, index++, r.role, number_or_null(r.compute_s), number_or_null(r.communicate_s),
                    number_or_null(r.wait_s), number_or_null(r.down_s), r.bytes_sent, r.bytes_received, r.host_class});
    }
  }
  return text;
}

std::string links_csv(const Results& results) {
  // A column for those who have neighbours.
  const bool shared = std::ranges::any_of(results.runs, [](const Run& run) {
    return std::ranges::any_of(run.record.links,
                               [](const record::LinkUse& link) { return link.background_bytes.has_value(); });
  });
  std::vector<Json> header = {"run", "link", "bytes", "utilisation", "link_class"};
  if (shared) header.emplace_back("background_bytes");
  std::string text = line(header);
  for (const Run& run : results.runs)
    for (const auto& l : run.record.links) {
      std::vector<Json> values = {run.id, l.link, l.bytes, number_or_null(l.utilisation), l.link_class};
      if (shared) values.emplace_back(l.background_bytes.value_or(0));
      text += line(values);
    }
  return text;
}

std::string link_utilisation_csv(const Results& results) {
  std::string text = line({"run", "link", "from_s", "to_s", "bytes", "utilisation"});
  for (const Run& run : results.runs)
    for (const auto& bin : run.record.link_bins)
      text += line({run.id, bin.link, number_or_null(bin.from_s), number_or_null(bin.to_s), number_or_null(bin.bytes),
                    number_or_null(bin.utilisation)});
  return text;
}

}  // namespace simgrad::outputs
