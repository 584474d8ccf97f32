#include "outputs/report/charts/overview.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "outputs/report/charts/curves.h"
#include "outputs/report/charts/points_table.h"
#include "outputs/text/language.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs::report {
namespace {

constexpr int overview_digits = 6;

/// Texts that occur often, by number.
class TextNumbers {
 public:
  std::size_t operator()(const std::string& text) {
    const auto [place, is_new] = numbers_.try_emplace(text, texts.size());
    if (is_new) texts.push_back(text);
    return place->second;
  }
  std::vector<std::string> texts;

 private:
  std::map<std::string, std::size_t> numbers_;
};

template <class Number>
void write_column(Writer& writer, std::string_view name, const std::vector<PointsRow>& rows, Number number) {
  if (std::ranges::none_of(rows, [&](const PointsRow& row) { return number(row).has_value(); })) {
    writer.key(name);
    return writer.null();
  }
  writer.key(name);
  writer.begin_array();
  for (const PointsRow& row : rows) {
    const std::optional<double> value = number(row);
    value ? writer.rounded(*value, overview_digits) : writer.null();
  }
  writer.end_array();
}

template <class Integer>
void write_integers(Writer& writer, std::string_view name, const std::vector<PointsRow>& rows, Integer integer) {
  writer.key(name);
  writer.begin_array();
  for (const PointsRow& row : rows) writer.value(integer(row));
  writer.end_array();
}

/// Writes the keys of the grid with their values, and each point as the places of its values.
void write_points(Writer& writer, const ReportModel& model, const PointsTable& table) {
  const std::vector<std::string>& keys = model.comparison.parameters;
  std::vector<TextNumbers> values(keys.size());
  std::vector<std::vector<std::size_t>> places;
  for (const Point& point : model.points) {
    std::vector<std::size_t>& own = places.emplace_back();
    for (std::size_t k = 0; k < keys.size(); ++k)
      own.push_back(values[k](value_text(point.parameters.value(keys[k], nlohmann::ordered_json()))));
  }
  writer.key("keys");
  writer.begin_array();
  for (std::size_t k = 0; k < keys.size(); ++k) {
    writer.begin_object();
    writer.member("name", table.keys[k]);
    writer.member("values", values[k].texts);
    writer.end_object();
  }
  writer.end_array();
  writer.member("points", places);
}

void write_cases(Writer& writer, const ReportModel& model, const PointsTable& table) {
  const std::vector<PointsRow>& rows = table.rows;
  TextNumbers statuses, bindings;
  writer.key("cases");
  writer.begin_object();
  write_integers(writer, "strategy", rows, [](const PointsRow& row) { return row.strategy; });
  write_integers(writer, "point", rows, [](const PointsRow& row) { return row.point; });
  write_column(writer, "time_s", rows, [](const PointsRow& row) { return row.time_s.mean; });
  write_column(writer, "time_margin_s", rows, [](const PointsRow& row) { return row.time_s.margin; });
  write_column(writer, "cost_usd", rows, [](const PointsRow& row) { return row.cost_usd.mean; });
  write_column(writer, "cost_margin_usd", rows, [](const PointsRow& row) { return row.cost_usd.margin; });
  write_column(writer, "energy_j", rows, [](const PointsRow& row) { return row.energy_j.mean; });
  write_column(writer, "energy_margin_j", rows, [](const PointsRow& row) { return row.energy_j.margin; });
  write_column(writer, "speedup", rows, [](const PointsRow& row) { return row.speedup; });
  write_column(writer, "speedup_margin", rows, [](const PointsRow& row) { return row.speedup_margin; });
  write_column(writer, "efficiency", rows, [](const PointsRow& row) { return row.efficiency; });
  write_column(writer, "final_loss", rows, [](const PointsRow& row) { return row.final_loss; });
  static constexpr std::string_view shares[] = {"compute_share", "communicate_share", "wait_share", "down_share"};
  for (std::size_t part = 0; part < std::size(shares); ++part)
    write_column(writer, shares[part], rows, [&](const PointsRow& row) -> std::optional<double> {
      const auto& parts_s = model.cases[static_cast<std::size_t>(&row - rows.data())].row.parts_s;
      if (!parts_s) return std::nullopt;
      const double all_s = (*parts_s)[0] + (*parts_s)[1] + (*parts_s)[2] + (*parts_s)[3];
      return all_s > 0.0 ? std::optional((*parts_s)[part] / all_s) : std::nullopt;
    });
  write_integers(writer, "seeds", rows, [](const PointsRow& row) { return row.seeds; });
  write_integers(writer, "reached", rows, [](const PointsRow& row) { return row.reached; });
  write_integers(writer, "status", rows, [&](const PointsRow& row) { return statuses(row.status); });
  write_integers(writer, "binds", rows, [&](const PointsRow& row) { return bindings(row.binds); });
  writer.end_object();
  writer.member("statuses", statuses.texts);
  writer.member("bindings", bindings.texts);
}

std::string_view word_of(Lead lead) {
  static constexpr std::string_view words[] = {"clear", "equal", "unclear", "one_seed"};
  return words[static_cast<std::size_t>(lead)];
}

/// Writes for each grid point the strategies that no other is clearly ahead of: null where no strategy has the measure.
void write_winners(Writer& writer, const ReportModel& model, Measure measure) {
  const std::vector<PointWinners> points = winners_by_point(model, measure);
  writer.key("winners");
  writer.begin_array();
  for (const auto& [ranked, top] : points) {
    if (ranked.empty()) {
      writer.null();
      continue;
    }
    writer.begin_object();
    writer.member("lead", word_of(top.lead));
    writer.key("strategies");
    writer.begin_array();
    for (const std::size_t i : top.all) writer.value(ranked[i]->strategy);
    writer.end_array();
    writer.end_object();
  }
  writer.end_array();
  writer.member("remark", chance_remark(model, points, measure));
}

/// Writes a short curve of each case: null for a case without losses.
void write_short_curves(Writer& writer, const ReportModel& model) {
  const std::size_t most =
      std::clamp(most_overview_points / model.cases.size(), least_points_a_curve, most_points_a_curve);
  writer.key("curves");
  writer.begin_array();
  for (const Case& one : model.cases) {
    const Series curve = series(one, most);
    if (std::ranges::none_of(curve.loss, [](double x) { return std::isfinite(x); })) {
      writer.null();
      continue;
    }
    writer.begin_object();
    writer.rounded_member("time_s", curve.simulated_s, overview_digits);
    writer.rounded_member("loss", curve.loss, overview_digits);
    if (curve.diverged) {
      writer.member("seeds", curve.seeds);
      writer.member("diverged", curve.diverged);
    }
    writer.end_object();
  }
  writer.end_array();
}

}  // namespace

void write_overview(Writer& writer, const ReportModel& model, std::optional<Measure> measure,
                    const CloserLook& closer) {
  const PointsTable table = *points_table(model);
  writer.begin_object();
  writer.member("sentence", table.sentence);
  writer.member("to_target", table.to_target);
  writer.key("by");
  measure ? writer.value(*measure == Measure::time_to_target ? "time_to_target" : "throughput") : writer.null();
  writer.key("strategies");
  writer.begin_array();
  for (const Strategy& strategy : model.strategies) writer.value(strategy.label);
  writer.end_array();
  write_points(writer, model, table);
  if (measure) write_winners(writer, model, *measure);
  write_cases(writer, model, table);
  write_short_curves(writer, model);
  writer.member("closer", closer.sentence);
  writer.member("closer_points", closer.points);
  writer.end_object();
}

}  // namespace simgrad::outputs::report
