/// The tables of a study for the terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "capacity/findings.h"
#include "capacity/tables.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"

namespace simgrad::capacity {

using outputs::tr;
using outputs::translatable;

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

/// Returns the texts of a time of all summaries, in one unit.
template <class Summary>
Row times(const std::vector<Summary>& all, double Summary::*time_s) {
  std::vector<double> column;
  for (const Summary& each : all) column.push_back(each.*time_s);
  return outputs::column_texts(outputs::Quantity::time, column);
}

std::string percent(double part, double all) { return fmt::format("{:.2f}", 100.0 * part / all); }

Row shares(const std::string& name, const HostTime& time) {
  Row row{name};
  for (const double part :
       {time.useful_s, time.down_s, time.recomputed_s, time.checkpoints_s, time.restart_s, time.waiting_s, time.idle_s})
    row.push_back(percent(part, time.total_s()));
  return row;
}

std::string servers_text(std::int64_t count) {
  return outputs::counted(static_cast<std::size_t>(count), "{} server", "{} servers");
}

std::string seeds_text(const Study& study) { return outputs::counted(study.seeds.size(), "{} seed", "{} seeds"); }

std::string failing(const Study& study) {
  if (!study.capacity.failures->happens()) return tr("Servers do not fail.");
  if (!study.mtbf_s) return tr("Servers fail as their trace says.");
  return tr("Each server fails every {} on average.", outputs::duration(*study.mtbf_s));
}

Row translated(std::initializer_list<std::string_view> names) {
  Row row;
  for (const std::string_view name : names) row.push_back(tr(name));
  return row;
}

/// The names of shares(), behind the first columns.
Row with_shares(Row first) {
  for (std::string& name : translated({translatable("useful"), translatable("down"), translatable("recomputed"),
                                       translatable("checkpoints"), translatable("restart"), translatable("waiting"),
                                       translatable("idle")}))
    first.push_back(std::move(name));
  return first;
}

/// The table of times below another one.
std::string parts_text(const std::vector<Row>& parts) {
  return fmt::format("\n{}\n{}", tr("The time of all servers, spares included, in %:"), aligned(parts));
}

/// "95.1 to 95.9 %", or "-" for one seed.
std::string interval_text(const Goodput& goodput) {
  if (!std::isfinite(goodput.low)) return "-";
  return fmt::format("{:.2f} - {:.2f} %", 100.0 * goodput.low, 100.0 * goodput.high);
}

std::string checkpoint_text(const Study& study) {
  std::string all;
  const bool several = study.checkpoints.size() > 1;
  for (const auto& [hosts, times] : study.checkpoints) {
    if (several) all += tr("On {}: ", servers_text(hosts));
    const std::string held_up = outputs::duration(times.held_up_s);
    if (times.write_s > 0.0)
      all += tr("A checkpoint holds the training up for {}, and is safe {} later, simulated.", held_up,
                outputs::duration(times.write_s));
    else
      all += tr("A checkpoint takes {}, simulated.", held_up);
    all += '\n';
  }
  return all;
}

std::string fleet_text(const Study& study) {
  std::vector<Row> rows{translated({translatable("spares"), translatable("goodput"), translatable("95 % interval"),
                                    translatable("in use"), translatable("mean wait"), translatable("median"),
                                    translatable("90 %"), translatable("jobs ended")})};
  std::vector<Row> parts{with_shares(translated({translatable("spares")}))};
  if (study.price_usd_per_h) rows.front().push_back(tr("useful server-hour"));
  const std::vector<SparesSummary> all = summaries(study);
  const Row means = times(all, &SparesSummary::wait_mean_s), medians = times(all, &SparesSummary::wait_median_s),
            p90s = times(all, &SparesSummary::wait_p90_s);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const SparesSummary& each = all[i];
    Row& row = rows.emplace_back(Row{fmt::format("{}", each.spares),
                                     fmt::format("{:.2f} %", 100.0 * each.goodput.value), interval_text(each.goodput),
                                     fmt::format("{:.2f} %", 100.0 * each.host_time.utilisation()), means[i],
                                     medians[i], p90s[i], tr("{} of {}", each.ended, each.jobs)});
    // Without useful time there is no price of it.
    if (each.usd_per_useful_host_h) row.push_back(outputs::dollars(*each.usd_per_useful_host_h));
    parts.push_back(shares(row.front(), each.host_time));
  }
  const std::string sentence = spares_sentence(study);
  return fmt::format("{}\n\n{}{}{}{}",
                     tr("A fleet of {} for {}, {}. {}", servers_text(*study.capacity.hosts),
                        outputs::duration(study.capacity.horizon_s), seeds_text(study), failing(study)),
                     aligned(rows), parts_text(parts), sentence.empty() ? "" : "\n", outputs::wrapped(sentence, 100));
}

std::string training_text(const Study& study) {
  std::vector<Row> rows{
      translated({translatable("spares"), translatable("rule"), translatable("interval"), translatable("median"),
                  translatable("90 %"), translatable("mean"), translatable("failures"), translatable("goodput"),
                  translatable("95 % interval"), translatable("finished")})};
  std::vector<Row> parts{with_shares(translated({translatable("spares"), translatable("rule")}))};
  const std::vector<RuleSummary> all = rule_summaries(study);
  const Row intervals = times(all, &RuleSummary::interval_s), medians = times(all, &RuleSummary::median_s),
            p90s = times(all, &RuleSummary::p90_s), means = times(all, &RuleSummary::mean_s);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const RuleSummary& each = all[i];
    const std::string spares = fmt::format("{}", each.spares);
    rows.push_back({spares, each.rule, intervals[i], medians[i], p90s[i], means[i],
                    fmt::format("{:.1f}", each.failures), fmt::format("{:.2f} %", 100.0 * each.goodput.value),
                    interval_text(each.goodput), tr("{} of {}", each.finished, study.seeds.size())});
    Row& row = parts.emplace_back(shares(each.rule, each.host_time));
    row.insert(row.begin(), spares);
  }
  const std::string sentence = training_spares_sentence(study);
  return fmt::format("{}\n\n{}{}\n{}{}",
                     tr("One training on {}, {} of computing, {}. {}", servers_text(study.undisturbed->hosts),
                        outputs::duration(study.undisturbed->work_s), seeds_text(study), failing(study)),
                     aligned(rows), parts_text(parts), outputs::wrapped(rule_sentence(study), 100),
                     sentence.empty() ? "" : outputs::wrapped(sentence, 100));
}

}  // namespace

std::string text(const Study& study) {
  std::string all;
  for (const auto& [hosts, step] : study.steps)
    all += tr("A step on {} takes {}, simulated.", servers_text(hosts), outputs::duration(step.duration_s)) + "\n";
  all += checkpoint_text(study);
  if (!study.fleet.empty()) all += fmt::format("{}{}", all.empty() ? "" : "\n", fleet_text(study));
  if (!study.trainings.empty()) all += fmt::format("{}{}", all.empty() ? "" : "\n", training_text(study));
  return all;
}

}  // namespace simgrad::capacity
