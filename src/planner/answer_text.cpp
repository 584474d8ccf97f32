/// The answer of a plan on a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"
#include "planner/finalists.h"
#include "planner/sentences.h"

namespace simgrad::planner {

using outputs::Align;
using outputs::tr;

namespace {

constexpr std::size_t front_most = 12;  ///< rows of the front

class Table {
 public:
  explicit Table(std::vector<std::string> titles) { rows_.push_back(std::move(titles)); }

  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  /// The last column takes the rest of the width.
  std::string text(std::size_t width) const {
    const std::size_t columns = rows_.front().size();
    std::vector<std::size_t> widths(columns, 0);
    for (const auto& row : rows_)
      for (std::size_t k = 0; k < columns; ++k) widths[k] = std::max(widths[k], outputs::display_width(row[k]));
    std::size_t before = 0;
    for (std::size_t k = 0; k + 1 < columns; ++k) before += widths[k] + 2;
    std::string all;
    for (const auto& row : rows_) {
      std::string line;
      for (std::size_t k = 0; k + 1 < columns; ++k)
        line += outputs::padded(row[k], widths[k], k == 0 ? Align::left : Align::right) + "  ";
      line += outputs::cut_middle(row.back(), width > before + 20 ? width - before : 20);
      while (line.ends_with(' ')) line.pop_back();
      all += line + "\n";
    }
    return all;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

class Text {
 public:
  Text(const Answer& answer, std::size_t width) : answer_(answer), width_(width) {}

  std::string all() {
    paragraph(sentence(answer_));
    paragraph(tie_text(answer_));
    if (!answer_.winner) {
      paragraph(decided_text(answer_));
      return text_;
    }
    if (answer_.winner->projected) paragraph(tr("The total time is extrapolated from the simulated steps."));
    paragraph(failures_text(answer_));
    text_ += "\n" + table();
    list(tr("Limits"), limit_texts(answer_));
    list(tr("If an assumption is off"), turn_texts(answer_));
    list(tr("Cannot be run"), refused_texts(answer_));
    text_ += "\n";
    paragraph(decided_text(answer_));
    paragraph(effort_text(answer_));
    paragraph(left_out_text(answer_));
    return text_;
  }

 private:
  void paragraph(const std::string& text) {
    if (!text.empty()) text_ += outputs::wrapped(text, width_);
  }

  void list(const std::string& title, const std::vector<std::string>& items) {
    if (items.empty()) return;
    text_ += "\n" + title + "\n";
    for (const std::string& item : items) text_ += outputs::wrapped("  " + item, width_);
  }

  using Named = std::pair<std::string, const Choice*>;

  /// Each time and each energy is in its column's unit.
  static std::string table_text(const Answer& answer, const std::vector<Named>& rows, std::size_t width) {
    const double missing = std::nan("");
    std::vector<double> times_s, energies_j;
    for (const auto& [what, choice] : rows) {
      times_s.push_back(choice->mean.time_s);
      energies_j.push_back(choice->mean.energy_j.value_or(missing));
    }
    const auto times = outputs::column_texts(outputs::Quantity::time, times_s);
    const auto energies = outputs::column_texts(outputs::Quantity::energy, energies_j);
    Table table({"", tr("time"), tr("money"), tr("energy"), tr("hosts and training")});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto& [what, choice] = rows[i];
      table.add({what, times[i], outputs::dollars(choice->mean.usd.value_or(missing)), energies[i],
                 choice_text(answer, choice->candidate)});
    }
    return table.text(width);
  }

  std::string table() const {
    std::vector<Named> all{{tr("winner"), &*answer_.winner}};
    for (const Tie& tie : answer_.ties) all.emplace_back(tr("tie"), &tie.choice);
    const auto shown = [&](const Choice& choice) {
      return choice.candidate == answer_.winner->candidate || std::ranges::any_of(answer_.ties, [&](const Tie& tie) {
               return tie.choice.candidate == choice.candidate;
             });
    };
    if (answer_.runner_up && !shown(*answer_.runner_up))
      all.emplace_back(tr("runner-up of another kind"), &*answer_.runner_up);
    std::size_t rows = 0;
    const Measures* last = nullptr;
    for (const Choice& choice : answer_.front) {
      if (last && *last == choice.mean) continue;  // the strategy of one worker, by another name
      last = &choice.mean;
      if (++rows <= front_most)
        all.emplace_back(
            by_chance(answer_.candidates.all[choice.candidate]) ? tr("Pareto front, first seed") : tr("Pareto front"),
            &choice);
    }
    return table_text(answer_, all, width_) +
           (rows > front_most ? tr("{} more are on the front", rows - front_most) + "\n" : "");
  }

  const Answer& answer_;
  std::size_t width_;
  std::string text_;
};

}  // namespace

std::string answer_text(const Answer& answer, std::size_t width) { return Text(answer, width).all(); }

}  // namespace simgrad::planner
