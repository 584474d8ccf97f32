/// The tables of a study for the terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "capacity/findings.h"
#include "capacity/tables.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"

namespace simgrad::capacity {

namespace {

using Row = std::vector<std::string>;

/// Rows of cells as lines, each column as wide as its widest cell.
std::string aligned(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], outputs::display_width(row[c]));
  std::string all;
  for (const Row& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c)
      all += fmt::format("{}{}", c == 0 ? "" : "  ", outputs::padded(row[c], widths[c], outputs::Align::right));
    all += '\n';
  }
  return all;
}

std::string percent(double part, double all) { return fmt::format("{:.2f}", 100.0 * part / all); }

Row shares(const std::string& name, const HostTime& time) {
  Row row{name};
  for (const double part :
       {time.useful_s, time.down_s, time.recomputed_s, time.checkpoints_s, time.restart_s, time.waiting_s, time.idle_s})
    row.push_back(percent(part, time.total_s()));
  return row;
}

/// Without useful time there is no price of it.
std::string dollars_text(double usd) { return std::isfinite(usd) ? outputs::dollars(usd) : std::string("-"); }

std::string plural(std::int64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string failing(const Study& study) {
  if (!study.mtbf_s) return "Servers do not fail, or as their trace says.";
  return fmt::format("One server fails every {} on average.", outputs::duration(*study.mtbf_s));
}

std::string fleet_text(const Study& study) {
  std::vector<Row> rows{{"spares", "goodput", "in use", "mean wait", "median", "90 %", "ended"}};
  std::vector<Row> parts{{"spares", "useful", "down", "recomputed", "checkpoints", "restart", "waiting", "idle"}};
  if (study.price_usd_per_h) rows.front().emplace_back("useful server-hour");
  for (const SparesSummary& each : summaries(study)) {
    Row& row =
        rows.emplace_back(Row{fmt::format("{}", each.spares), fmt::format("{:.2f} %", 100.0 * each.host_time.goodput()),
                              fmt::format("{:.2f} %", 100.0 * each.host_time.utilisation()),
                              outputs::duration(each.wait_mean_s), outputs::duration(each.wait_median_s),
                              outputs::duration(each.wait_p90_s), fmt::format("{} of {}", each.ended, each.jobs)});
    if (each.usd_per_useful_host_h) row.push_back(dollars_text(*each.usd_per_useful_host_h));
    parts.push_back(shares(row.front(), each.host_time));
  }
  const std::string sentence = spares_sentence(study);
  return fmt::format("A fleet of {} for {}, {}. {}\n\n{}\nThe time of all servers, spares included, in %:\n{}{}{}",
                     plural(*study.capacity.hosts, "server"), outputs::duration(study.capacity.horizon_s),
                     plural(std::ssize(study.seeds), "seed"), failing(study), aligned(rows), aligned(parts),
                     sentence.empty() ? "" : "\n", outputs::wrapped(sentence, 100));
}

std::string training_text(const Study& study) {
  std::vector<Row> rows{
      {"spares", "checkpoints", "interval", "median", "90 %", "mean", "failures", "goodput", "finished"}};
  std::vector<Row> parts{
      {"spares", "checkpoints", "useful", "down", "recomputed", "checkpoints", "restart", "waiting", "idle"}};
  for (const RuleSummary& each : rule_summaries(study)) {
    const std::string spares = fmt::format("{}", each.spares);
    rows.push_back({spares, each.rule, outputs::duration(each.interval_s), outputs::duration(each.median_s),
                    outputs::duration(each.p90_s), outputs::duration(each.mean_s), fmt::format("{:.1f}", each.failures),
                    fmt::format("{:.2f} %", 100.0 * each.host_time.goodput()),
                    fmt::format("{} of {}", each.finished, study.seeds.size())});
    Row& row = parts.emplace_back(shares(each.rule, each.host_time));
    row.insert(row.begin(), spares);
  }
  const std::string sentence = training_spares_sentence(study);
  return fmt::format(
      "One training on {}, {} of computing, {}. {}\n\n{}\nThe time of all servers, spares included, in %:\n{}\n{}{}",
      plural(study.undisturbed->hosts, "server"), outputs::duration(study.undisturbed->work_s),
      plural(std::ssize(study.seeds), "seed"), failing(study), aligned(rows), aligned(parts),
      outputs::wrapped(rule_sentence(study), 100), sentence.empty() ? "" : outputs::wrapped(sentence, 100));
}

}  // namespace

std::string text(const Study& study) {
  std::string all;
  for (const auto& [hosts, step] : study.steps)
    all +=
        fmt::format("A step on {} takes {}, simulated.\n", plural(hosts, "server"), outputs::duration(step.duration_s));
  if (!study.fleet.empty()) all += fmt::format("{}{}", all.empty() ? "" : "\n", fleet_text(study));
  if (!study.trainings.empty()) all += fmt::format("{}{}", all.empty() ? "" : "\n", training_text(study));
  return all;
}

}  // namespace simgrad::capacity
