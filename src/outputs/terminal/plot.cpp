#include "outputs/terminal/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "outputs/comparison.h"
#include "outputs/divergence.h"
#include "outputs/leaders.h"
#include "outputs/mean_curve.h"
#include "outputs/terminal/axis.h"
#include "outputs/terminal/canvas.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs {
namespace {

constexpr std::size_t plot_rows = 9, width_most = 80, curves_most = 26;
constexpr double logarithmic_from = 20.0;  ///< the ratio from which an axis is logarithmic
/// Blue, yellow, green, magenta, cyan, red, then the bright variants.
constexpr std::array<std::string_view, 12> colours = {"\033[34m", "\033[33m", "\033[32m", "\033[35m",
                                                      "\033[36m", "\033[31m", "\033[94m", "\033[93m",
                                                      "\033[92m", "\033[95m", "\033[96m", "\033[91m"};

struct PlottedCurve {
  std::string label;
  std::vector<const Run*> seeds;
  std::vector<CurvePoint> points;
  std::string note;  ///< " (diverged at step 7)"; empty if no seed has diverged
};

/// Returns the first step at which a seed has diverged, and how many of several seeds did.
std::string divergence_note(const std::vector<const Run*>& seeds) {
  std::optional<std::int64_t> step;
  std::size_t diverged = 0;
  for (const Run* run : seeds) {
    const auto of_run = diverged_step(run->record);
    if (!of_run) continue;
    step = std::min(step.value_or(*of_run), *of_run);
    ++diverged;
  }
  if (!step) return "";
  return diverged < seeds.size() ? tr(" ({} of {} seeds diverged at step {})", diverged, seeds.size(), *step)
                                 : tr(" (diverged at step {})", *step);
}

/// Returns the grid point to draw: that of the fastest case to the target, else the last one.
nlohmann::ordered_json point_of(const Comparison& c, const std::vector<Run>& runs) {
  const std::vector<const Row*> to_target = ranked(c, by_time_to_target);
  if (!to_target.empty()) return to_target.front()->parameters;
  return runs.empty() ? nlohmann::ordered_json::object() : runs.back().parameters;
}

/// Returns the curves of a grid point, in the order of its labels.
std::vector<PlottedCurve> curves_of(const std::vector<Run>& runs, const nlohmann::ordered_json& point) {
  std::vector<PlottedCurve> curves;
  for (const Run& run : runs) {
    if (run.parameters != point || run.record.status == record::Status::failed) continue;
    auto curve = std::ranges::find(curves, run.label, &PlottedCurve::label);
    if (curve == curves.end())
      curve = curves.insert(curves.end(), {.label = run.label, .seeds = {}, .points = {}, .note = {}});
    curve->seeds.push_back(&run);
  }
  for (PlottedCurve& curve : curves) {
    curve.points = mean_curve(curve.seeds);
    curve.note = divergence_note(curve.seeds);
  }
  std::erase_if(curves, [](const PlottedCurve& curve) { return curve.points.empty(); });
  if (std::ranges::none_of(curves, [](const PlottedCurve& curve) { return curve.points.size() > 1; })) curves.clear();
  return curves;
}

Axis time_axis(const std::vector<PlottedCurve>& curves) {
  double shortest = INFINITY, longest = 0.0, first = INFINITY;
  for (const PlottedCurve& curve : curves) {
    const double end_s = curve.points.back().simulated_s;
    if (end_s > 0.0) shortest = std::min(shortest, end_s);
    longest = std::max(longest, end_s);
    for (const auto& [time_s, loss] : curve.points)
      if (time_s > 0.0) first = std::min(first, time_s);
  }
  const bool logarithmic = longest > logarithmic_from * shortest && first < longest;
  return {.from = logarithmic ? first : 0.0, .to = longest, .logarithmic = logarithmic};
}

Axis loss_axis(const std::vector<PlottedCurve>& curves, std::optional<double> target) {
  double least = target.value_or(INFINITY), most = target.value_or(-INFINITY), first = -INFINITY;
  for (const PlottedCurve& curve : curves) {
    first = std::max(first, curve.points.front().loss);
    for (const auto& [time_s, loss] : curve.points) least = std::min(least, loss), most = std::max(most, loss);
  }
  if (first > 0.0) most = std::min(most, 10.0 * first);  // a diverging curve leaves the plot
  if (!(most - least > 1e-12 * std::abs(least))) most = least + std::max(std::abs(least), 1e-300);
  return {.from = least, .to = most, .logarithmic = least > 0.0 && most > logarithmic_from * least};
}

/// Returns the largest unit that fits into the axis at least twice.
std::pair<std::string_view, double> time_unit(double longest_s) {
  std::pair<std::string_view, double> unit{"ns", 1e-9};
  for (const auto& [name, s] : std::initializer_list<std::pair<std::string_view, double>>{
           {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1.0}, {"min", 60.0}, {"h", 3600.0}, {"d", 86400.0}})
    if (longest_s >= 2.0 * s) unit = {name, s};
  return unit;
}

std::string tick_text(double value) { return number_text(value, 4); }

/// Draws a curve. Times before the beginning of a logarithmic axis are drawn at its beginning; a single point is a dot.
void draw(Canvas& canvas, std::size_t i, const std::vector<CurvePoint>& points, const Axis& time, const Axis& loss) {
  for (std::size_t k = 0; k < points.size(); ++k) {
    const CurvePoint& from = points[k > 0 ? k - 1 : 0];
    const auto place = [&](double time_s) { return time.place(std::max(time_s, time.from)); };
    canvas.draw(i, place(from.simulated_s), loss.place(from.loss), place(points[k].simulated_s),
                loss.place(points[k].loss));
  }
}

/// Returns the labels left of the rows: round numbers, never in neighbouring rows, and the target.
std::array<std::string, plot_rows> loss_labels(const Axis& axis, std::optional<double> target, const Canvas& canvas) {
  std::array<std::string, plot_rows> labels;
  const auto taken = [&](std::size_t row) {
    return !labels[row].empty() || (row > 0 && !labels[row - 1].empty()) ||
           (row + 1 < plot_rows && !labels[row + 1].empty());
  };
  if (target) labels[canvas.row(axis.place(*target))] = tr("target");
  std::vector<double> ticks = axis.ticks(4);
  const auto power_of_ten = [](double x) { return std::abs(std::log10(x) - std::round(std::log10(x))) < 1e-9; };
  if (axis.logarithmic) std::stable_partition(ticks.begin(), ticks.end(), power_of_ten);  // these come first
  for (const double tick : ticks)
    if (const std::size_t row = canvas.row(axis.place(tick)); !taken(row)) labels[row] = tick_text(tick);
  return labels;
}

/// Returns the line below the plot and the numbers under that line.
std::string time_lines(const Axis& axis_s, double unit_s, std::size_t margin, std::size_t columns,
                       const Canvas& canvas) {
  const Axis axis{.from = axis_s.from / unit_s, .to = axis_s.to / unit_s, .logarithmic = axis_s.logarithmic};
  std::vector<bool> marks(columns);
  std::string numbers;
  for (const double tick : axis.ticks(6)) {
    const std::size_t column = canvas.column(axis.place(tick));
    const std::string text = tick_text(tick);
    std::size_t at = margin + 2 + column;
    at -= std::min(at, text.size() / 2);
    if ((!numbers.empty() && at < numbers.size() + 2) || at + text.size() > margin + 2 + columns + 1) continue;
    marks[column] = true;
    numbers += std::string(at - numbers.size(), ' ') + text;
  }
  std::string rule = std::string(margin + 1, ' ') + "└";
  for (const bool mark : marks) rule += mark ? "┬" : "─";
  return rule + '\n' + numbers + '\n';
}

std::string title(const std::string& point, const std::vector<PlottedCurve>& curves, std::string_view unit,
                  std::size_t width) {
  const bool seeds = std::ranges::any_of(curves, [](const PlottedCurve& curve) { return curve.seeds.size() > 1; });
  return wrapped(tr("Loss against simulated time [{}]{}{}:", unit, seeds ? tr(", mean over the seeds") : "",
                    point.empty() ? "" : tr(", at {}", point)),
                 width);
}

/// Returns "a ring   b tree", broken into lines that fit.
std::string legend(const std::vector<PlottedCurve>& curves, const Canvas& canvas, bool coloured, std::size_t width) {
  std::string text, line;
  std::size_t taken = 0;
  const std::size_t mark = coloured ? 2 : 1;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const std::string& note = curves[i].note;
    const std::size_t room = width - 3 - mark;
    const std::string name = printable(curves[i].label);
    const bool fits = display_width(note) + 10 < room;
    const std::string label =
        fits ? cut_middle(name, room - display_width(note)) + note : cut_middle(name + note, room);
    const std::size_t size = mark + 1 + display_width(label);
    if (taken > 0 && taken + 3 + size > width) text += std::exchange(line, "") + '\n', taken = 0;
    line += std::string(taken > 0 ? 3 : 2, ' ') + canvas.sample(i) + ' ' + label;
    taken += (taken > 0 ? 3 : 2) + size;
  }
  return text + line + '\n';
}

}  // namespace

std::string plot(const Results& results, const TableStyle& style) {
  const std::size_t width = std::min(static_cast<std::size_t>(std::max(style.width, 0)), width_most);
  const Comparison compared = comparison(results);
  const nlohmann::ordered_json at = point_of(compared, results.runs);
  std::vector<PlottedCurve> curves = curves_of(results.runs, at);
  const std::size_t left_out = curves.size() > curves_most ? curves.size() - curves_most : 0;
  curves.resize(curves.size() - left_out);
  const Axis time = time_axis(curves);
  if (curves.empty() || width < 30 || !(time.to > 0.0)) return "";
  std::optional<double> target = compared.target;
  const Axis loss = loss_axis(curves, target);

  const bool coloured = style.colour && curves.size() <= colours.size();
  const std::vector<std::string_view> paints(colours.begin(), colours.begin() + (coloured ? curves.size() : 0));
  constexpr std::size_t margin = 9;
  const std::size_t columns = width - margin - 3;
  Canvas canvas(columns, plot_rows, curves.size(), paints);
  for (std::size_t i = 0; i < curves.size(); ++i) draw(canvas, i, curves[i].points, time, loss);

  const auto [unit, unit_s] = time_unit(time.to);
  const auto labels = loss_labels(loss, target, canvas);
  std::string text = title(point_text(at), curves, unit, width);
  for (std::size_t r = 0; r < plot_rows; ++r) {
    const std::string filled = canvas.line(r, labels[r] == tr("target") ? "┄" : " ");
    const std::string line = padded(labels[r], margin, Align::right) + (labels[r].empty() ? " │" : " ┤") + filled;
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  text += time_lines(time, unit_s, margin, columns, canvas) + legend(curves, canvas, coloured, width);
  if (left_out > 0) text += tr("  and {} more, not drawn\n", left_out);
  return text;
}

}  // namespace simgrad::outputs
