#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/errors.h"
#include "base/text.h"
#include "cli/catalogue.h"
#include "cli/cli.h"
#include "cli/language.h"
#include "outputs/text/language.h"

namespace simgrad::cli {

namespace {

using outputs::tr;

void print(const Kind& kind) {
  // One heading for each place of a scenario that chooses among the items below.
  const std::string* place = nullptr;
  for (const Item& item : kind.items) {
    const std::string& where = item.where.empty() ? kind.where : item.where;
    if (!place || where != *place) fmt::print("{}\n", tr("{} ({})", kind.name, tr(where)));
    place = &where;
    fmt::print("  {:<20} {}\n", item.about.kind, tr(item.about.summary));
    if (!item.about.cost.empty()) fmt::print("  {:<20} {}\n", "", tr("cost: {}", tr(item.about.cost)));
    if (!item.about.source.empty()) fmt::print("  {:<20} {}\n", "", tr("source: {}", item.about.source));
  }
}

void list(const std::string& wanted) {
  std::vector<std::string> known;
  bool found = false;
  for (const Kind& kind : catalogue()) {
    known.push_back(kind.name);
    if (!wanted.empty() && wanted != kind.name && wanted != kind.one) continue;
    print(kind);
    found = true;
  }
  if (!found)
    throw base::ScenarioError(fmt::format("list: unknown kind \"{}\"{}", wanted, base::suggestion(wanted, known)));
}

}  // namespace

void add_list(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("list", "Lists strategies, collectives, models, data, topologies, ...");
  auto wanted = std::make_shared<std::string>();
  command->add_option("kind", *wanted, "Only this kind: strategies, models, ...");
  add_language(*command);
  command->callback([wanted, &exit_code] {
    list(*wanted);
    exit_code = Exit::ok;
  });
}

}  // namespace simgrad::cli
