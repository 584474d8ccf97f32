#include "cli/explain_balance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/errors.h"
#include "base/text.h"
#include "experiment/checks/batch_shares.h"
#include "experiment/checks/stage_balance.h"
#include "experiment/checks/tensor_balance.h"
#include "experiment/run/simulate.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"
#include "strategies/parallel/on_mesh.h"

namespace simgrad::cli {

namespace {

using experiment::BatchShares;
using experiment::Settings;
using experiment::Sharer;
using experiment::TensorBalance;
using outputs::tr;

/// A line of a table; neighbours that are alike are one line.
struct Line {
  std::vector<std::string> cells;
  std::int64_t count = 1;
};

void add(std::vector<Line>& lines, std::vector<std::string> cells) {
  if (!lines.empty() && lines.back().cells == cells)
    ++lines.back().count;
  else
    lines.push_back({std::move(cells)});
}

/// Prints the lines below their headings, columns at the right but the first one.  of_counts: the heading of the second
/// column.
void print(const std::vector<std::string>& headings, const std::vector<Line>& lines, const std::string& of_counts) {
  std::vector<std::vector<std::string>> rows{headings};
  rows.front().insert(rows.front().begin() + 1, of_counts);
  for (const Line& line : lines) {
    rows.push_back(line.cells);
    rows.back().insert(rows.back().begin() + 1, fmt::format("{}", line.count));
  }
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], outputs::display_width(row[i]));
  for (const auto& row : rows) {
    std::string text = outputs::padded(row[0], widths[0], outputs::Align::left);
    for (std::size_t i = 1; i < row.size(); ++i)
      text += "  " + outputs::padded(row[i], widths[i], outputs::Align::right);
    fmt::print("{}\n", text);
  }
}

std::string rate_text(double flops_per_s) { return outputs::flops_text(flops_per_s) + "FLOP/s"; }

std::string memory_text(const std::optional<double>& bytes) {
  return bytes ? outputs::byte_count(*bytes) : tr("unknown");
}

/// The classes of a sharer's hosts: "h100", or "h100 + a100".
std::string classes_of(const Settings& settings, const Sharer& sharer) {
  std::string all;
  for (const int host : sharer.hosts)
    if (const std::string name = experiment::class_name(settings, host); all.find(name) == std::string::npos)
      all += (all.empty() ? "" : " + ") + name;
  return all;
}

/// Times of the passes of a step, those of the worker that takes longest.
struct StepPasses {
  double by_speed_s = 0.0, equal_s = 0.0;
};

StepPasses print_shares(const Settings& settings, const strategies::Strategy& strategy, const models::Problem& problem,
                        std::int64_t rows, const BatchShares& shares) {
  const experiment::HostPowers powers = experiment::powers_of(settings);
  const std::vector<std::int64_t> by_speed = shares.by_speed(), equal = shares.equal();
  StepPasses longest;
  std::vector<Line> lines;
  for (std::size_t s = 0; s < shares.sharers.size(); ++s) {
    const Sharer& sharer = shares.sharers[s];
    const double balanced_s = experiment::passes_s(settings, problem, powers, sharer, by_speed[s]);
    const double equal_s = experiment::passes_s(settings, problem, powers, sharer, equal[s]);
    longest = {std::max(longest.by_speed_s, balanced_s), std::max(longest.equal_s, equal_s)};
    const auto needs = [&](std::int64_t share) {
      return outputs::byte_count(experiment::bytes_with_rows(settings, strategy, problem, rows, shares, share));
    };
    add(lines, {classes_of(settings, sharer), rate_text(sharer.flops_per_s), memory_text(sharer.memory_bytes),
                fmt::format("{}", by_speed[s]), outputs::duration(balanced_s), needs(by_speed[s]),
                fmt::format("{}", equal[s]), outputs::duration(equal_s), needs(equal[s])});
  }
  const bool replicas = shares.sharers.front().hosts.size() > 1;
  print({tr("class"), tr("speed"), tr("memory"), tr("rows"), tr("passes"), tr("needs"), tr("equal rows"), tr("passes"),
         tr("needs")},
        lines, replicas ? tr("replicas") : tr("workers"));
  return longest;
}

void explain_shares(const Settings& settings, const BatchShares& shares, const StepPasses& longest) {
  const bool chosen = settings.training.partition->by_speed();
  const std::string multiples =
      shares.unit > 1 ? tr(", in multiples of {} (a row for each micro-batch)", shares.unit) : "";
  fmt::print("\n{}\n",
             tr("rows: of a step's batch of {}, in proportion to the speeds{}; passes: forwards and backwards over "
                "these rows, by nominal speeds; needs: memory; the last columns: the same with equal rows",
                shares.batch, multiples));
  double sum = 0.0;
  for (const Sharer& sharer : shares.sharers) sum += sharer.flops_per_s;
  const std::string by_speed = outputs::duration(longest.by_speed_s), equal = outputs::duration(longest.equal_s);
  const double ratio = longest.by_speed_s > 0.0 ? longest.equal_s / longest.by_speed_s : 1.0;
  fmt::print("{}\n",
             std::abs(ratio - 1.0) >= 0.005
                 ? tr("The longest passes of a step take {} by speed and {} with equal rows, which is {:.3g} times as "
                      "long.",
                      by_speed, equal, ratio)
                 : tr("The longest passes of a step take {} by speed and {} with equal rows.", by_speed, equal));
  const std::vector<std::int64_t> rows = shares.by_speed();
  for (std::size_t s = 0; s < rows.size(); ++s) {
    const Sharer& sharer = shares.sharers[s];
    const double free = static_cast<double>(shares.batch) * sharer.flops_per_s / sum;
    const bool first = s == 0 || experiment::class_name(settings, sharer.hosts.front()) !=
                                     experiment::class_name(settings, shares.sharers[s - 1].hosts.front());
    if (first && static_cast<double>(rows[s] + shares.unit) <= free && rows[s] >= sharer.most_rows)
      fmt::print("{}\n",
                 tr("Memory bounds the share of class {}: it holds {} rows, where its speed would ask for {:.1f}.",
                    classes_of(settings, sharer), sharer.most_rows, free));
  }
  if (shares.sharers.size() == 1)
    fmt::print("{}\n", tr("All workers are one replica, which has all rows."));
  else if (chosen)
    fmt::print("{}\n", tr("The scenario splits the batch by speed (training.partition, shares = \"speed\")."));
  else
    fmt::print("{}\n", tr("The scenario splits the batch equally; training.partition = { kind = \"iid\", shares = "
                          "\"speed\" } splits it by speed."));
}

void print_stages(const Settings& settings, const strategies::OnMesh& on_mesh, const models::Problem& problem,
                  std::int64_t rows) {
  const auto own = experiment::stage_balance(settings, on_mesh, problem, rows, false);
  const auto even = experiment::stage_balance(settings, on_mesh, problem, rows, true);
  std::vector<Line> lines;
  double longest_s = 0.0, even_s = 0.0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    longest_s = std::max(longest_s, own[i].passes_s);
    even_s = std::max(even_s, even[i].passes_s);
    lines.push_back(
        {{fmt::format("{}: {}", i, own[i].classes), rate_text(own[i].flops_per_s), memory_text(own[i].memory_bytes),
          fmt::format("{}", own[i].units), outputs::duration(own[i].passes_s), outputs::byte_count(own[i].needed_bytes),
          fmt::format("{}", even[i].units), outputs::duration(even[i].passes_s),
          outputs::byte_count(even[i].needed_bytes)},
         on_mesh.parallel().by_stages() ? on_mesh.parallel().shape().replicas[i]
                                        : on_mesh.parallel().ranks_a_replica() / on_mesh.parallel().pipeline});
  }
  fmt::print("\n");
  print({tr("stage"), tr("speed"), tr("memory"), tr("units"), tr("passes"), tr("needs"), tr("equal units"),
         tr("passes"), tr("needs")},
        lines, tr("ranks"));
  std::string text =
      tr("units: of the model, as balance or stages divides them; passes: of a rank's equal share of the rows, without "
         "hops and waiting; the last columns: the same with as many blocks in each stage. A step cannot be faster than "
         "its slowest stage: {} here, {} with equal blocks.",
         outputs::duration(longest_s), outputs::duration(even_s));
  if (!on_mesh.parallel().by_stages())
    text += outputs::between_sentences() + tr("balance = \"time\" finds the stages with the shortest predicted step.");
  fmt::print("\n{}\n", text);
}

/// "5 heads" in the language of the process.
std::string unit_text(const std::string& count, const std::string& unit) {
  if (unit == "heads") return tr("{} heads", count);
  if (unit == "columns") return tr("{} columns", count);
  if (unit == "tokens") return tr("{} tokens", count);
  return unit == "units" ? tr("{} units", count) : count + " " + unit;
}

/// "5 heads, 1720 columns, 8000 tokens" in the language of the process.
std::string units_text(const std::string& units) {
  std::vector<std::string> all;
  std::istringstream words(units);
  for (std::string count, unit; words >> count >> unit;) {
    if (unit.ends_with(',')) unit.pop_back();
    all.push_back(unit_text(count, unit));
  }
  return base::joined(all, tr(", "));
}

/// The longest passes of a step by speed, beside those with equal shares if the model divides into them.
std::string longest_text(double own_s, double equal_s, bool divides) {
  const std::string own = outputs::duration(own_s), equal = outputs::duration(equal_s);
  if (!divides) return tr("The longest passes of a step take {} by speed.", own);
  if (own_s > 0.0 && std::abs(equal_s / own_s - 1.0) >= 0.005)
    return tr("The longest passes of a step take {} by speed and {} with equal shares, which is {:.3g} times as long.",
              own, equal, equal_s / own_s);
  return tr("The longest passes of a step take {} by speed and {} with equal shares.", own, equal);
}

void explain_tensor_shares(const Settings& settings, const std::vector<TensorBalance>& own,
                           const std::vector<TensorBalance>& equal) {
  const std::string divided = equal.empty() ? tr(", into which the model does not divide") : "";
  fmt::print(
      "\n{}\n",
      tr("units: of the products of layers, in proportion to the speeds, by largest remainders; passes: of a replica's "
         "equal share of the rows, without hops and waiting; needs: memory; the last columns: the same with equal "
         "shares{}",
         divided));
  fmt::print("{}{}{}\n", tr("Ranks that share products wait for the slowest of them."), outputs::between_sentences(),
             longest_text(experiment::longest_passes_s(own), experiment::longest_passes_s(equal), !equal.empty()));
  for (std::size_t i = 0; i < own.size(); ++i)
    if (own[i].share < own[i].by_speed * (1.0 - 1e-9) && (i == 0 || own[i].classes != own[i - 1].classes))
      fmt::print("{}\n",
                 tr("Memory bounds the share of class {}: it holds {:.1f} % of the products, where its speed would ask "
                    "for {:.1f} %.",
                    own[i].classes, 100.0 * own[i].share, 100.0 * own[i].by_speed));
  fmt::print("{}\n",
             settings.parallel.tensor_shares == strategies::TensorShares::speed
                 ? tr("The scenario sizes the shares by speed (parallel.tensor_shares = \"speed\").")
                 : tr("The scenario has equal shares; parallel.tensor_shares = \"speed\" sizes them by speed."));
}

/// Prints nothing where the ranks of every tensor group are alike.
void print_tensor_shares(const Settings& settings, const strategies::OnMesh& on_mesh, const models::Problem& problem,
                         std::int64_t rows) {
  const std::vector<TensorBalance> own = experiment::tensor_balance(settings, on_mesh, problem, rows, false);
  const std::vector<TensorBalance> equal = experiment::tensor_balance(settings, on_mesh, problem, rows, true);
  if (own.empty()) return;
  std::vector<Line> lines;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const TensorBalance& balance = own[i];
    const std::string stage = on_mesh.parallel().pipeline > 1 ? fmt::format("{}: ", balance.stage) : "";
    std::vector<std::string> cells{
        stage + balance.classes,   rate_text(balance.flops_per_s),      memory_text(balance.memory_bytes),
        units_text(balance.units), outputs::duration(balance.passes_s), outputs::byte_count(balance.needed_bytes)};
    const auto add_cell = [&](const std::string& text) { cells.push_back(equal.empty() ? "-" : text); };
    const TensorBalance& beside = equal.empty() ? balance : equal[i];
    add_cell(units_text(beside.units));
    add_cell(outputs::duration(beside.passes_s));
    add_cell(outputs::byte_count(beside.needed_bytes));
    add(lines, std::move(cells));
  }
  fmt::print("\n{}\n\n", tr("shares of tensor ranks in the products of layers"));
  print({on_mesh.parallel().pipeline > 1 ? tr("stage") : tr("class"), tr("speed"), tr("memory"), tr("units"),
         tr("passes"), tr("needs"), tr("equal units"), tr("passes"), tr("needs")},
        lines, tr("tensor ranks"));
  explain_tensor_shares(settings, own, equal);
}

}  // namespace

void print_balance(const experiment::RunPlan& run) {
  const Settings& settings = *run.settings;
  if (!settings.cluster.platform.empty())
    throw base::ScenarioError(
        "explain balance: the hosts of a platform are known in a run alone; expected a topology of [cluster]");
  const models::Problem problem = experiment::problem_of_run(run);
  const std::optional<std::int64_t> known = experiment::known_rows(settings);
  const std::int64_t rows = known ? *known : experiment::load_data(run)->train.rows;
  const strategies::Strategy& strategy = *run.strategy;
  if (run.kind == "multitask")
    throw base::ScenarioError(
        "explain balance: workers of strategy multitask have rows by their tasks, not by their speed; expected another "
        "strategy");
  const auto* const on_mesh = strategies::mesh_under(strategy);
  if (on_mesh && on_mesh->parallel().by_stages()) {
    fmt::print("{}\n",
               tr("the replicas of each stage have micro-batches in turn, for {}", outputs::printable(run.label)));
    return print_stages(settings, *on_mesh, problem, rows);
  }
  const BatchShares shares =
      experiment::batch_shares(settings, strategy, problem, rows, experiment::powers_of(settings));
  fmt::print("{}\n\n", tr("shares of a step's batch for {}", outputs::printable(run.label)));
  if (shares.rows_that_fit() < shares.batch)
    fmt::print("{}\n", tr("a batch of {} rows does not fit into the workers' memory, which holds {}", shares.batch,
                          shares.rows_that_fit()));
  else
    explain_shares(settings, shares, print_shares(settings, strategy, problem, rows, shares));
  if (on_mesh && on_mesh->parallel().pipeline > 1) print_stages(settings, *on_mesh, problem, rows);
  if (on_mesh && on_mesh->parallel().tensor > 1) print_tensor_shares(settings, *on_mesh, problem, rows);
}

}  // namespace simgrad::cli
