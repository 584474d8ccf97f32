#include "outputs/report/charts/links.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "outputs/report/data/host_names.h"
#include "outputs/report/data/phrases.h"
#include "outputs/report/sentences/explanation.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs::report {
namespace {

constexpr double same_within = 1.005;

std::vector<Link> links_of(const Case& one) {
  const record::Record& first = one.runs.front()->record;
  std::map<std::string, const record::CablingEdge*> wires;
  for (const record::CablingEdge& wire : first.wires) wires.try_emplace(wire.link, &wire);
  std::vector<Link> links;
  for (std::size_t k = 0; k < first.links.size(); ++k) {
    Link& link = links.emplace_back();
    link.name = first.links[k].link;
    if (const auto wire = wires.find(link.name); wire != wires.end()) {
      link.from = wire->second->from;
      link.to = wire->second->to;
    }
    double n = 0.0;
    for (const Run* run : one.runs) {
      if (run->record.links.size() != first.links.size()) continue;
      n += 1.0;
      link.bytes += static_cast<double>(run->record.links[k].bytes);
      link.utilisation += run->record.links[k].utilisation;
    }
    link.bytes /= n;
    link.utilisation /= n;
  }
  return links;
}

/// Names the links by the ranks at their ends: "server 0, sending".
void name(std::vector<Link>& links, const std::map<std::string, std::string>& hosts) {
  for (Link& link : links) {
    const auto from = link.from ? hosts.find(*link.from) : hosts.end();
    const auto to = link.to ? hosts.find(*link.to) : hosts.end();
    const bool sends = from != hosts.end();
    const bool receives = to != hosts.end();
    link.text = sends && receives ? tr("{} to {}", from->second, to->second)
                : sends           ? tr("{}, sending", from->second)
                : receives        ? tr("{}, receiving", to->second)
                                  : link.name;
  }
  // Cables beside each other, or a bus, would have one text for several links: these keep their names.
  std::map<std::string, int> uses;
  for (const Link& link : links) ++uses[link.text];
  for (Link& link : links)
    if (uses[link.text] > 1) link.text = tr("{} ({})", link.text, link.name);
}

/// Keeps the links that carried most, and the busiest one, in their order.
void keep(std::vector<Link>& links, std::size_t most, const std::string& busiest) {
  if (links.size() <= most) return;
  std::vector<std::size_t> order(links.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {},
                           [&](std::size_t i) { return std::pair(links[i].name != busiest, -links[i].bytes); });
  order.resize(most);
  std::ranges::sort(order);
  std::vector<Link> kept;
  for (const std::size_t i : order) kept.push_back(std::move(links[i]));
  links = std::move(kept);
}

const Link* busiest(const LinksRow& row) {
  const auto found = std::ranges::find(row.links, row.one->busiest ? row.one->busiest->name : "", &Link::name);
  return found == row.links.end() ? nullptr : &*found;
}

double mean_utilisation(const std::vector<Link>& links) {
  double sum = 0.0;
  for (const Link& link : links) sum += link.utilisation;
  return links.empty() ? 0.0 : sum / static_cast<double>(links.size());
}

std::string described(const ReportModel& model, const LinksRow& row) {
  const Link& link = *busiest(row);
  const std::string ranks = link.text == link.name ? "" : tr(" ({})", printable(link.text));
  return tr("\"{}\"{} of {}: busy {} of the time, {} carried{}", printable(link.name), ranks, model.named(*row.one),
            percent(link.utilisation), byte_count(link.bytes),
            row.one->busiest->shared ? tr(" along with other traffic") : "");
}

std::string sentence(const ReportModel& model, Links& chart) {
  const LinksRow* most = nullptr;
  const LinksRow* least = nullptr;
  for (const LinksRow& row : chart.rows) {
    if (!busiest(row)) continue;
    if (!most || busiest(row)->utilisation > busiest(*most)->utilisation) most = &row;
    if (!least || busiest(row)->utilisation < busiest(*least)->utilisation) least = &row;
  }
  if (!most) return tr("The utilisation of the links is not known.");
  chart.about = subject_of(*most->one);
  std::string text = tr("The busiest link is {}", described(model, *most));
  const double mean = most->utilisation_mean;
  if (most->links_in_all > 1 && mean > 0.0) {
    const double peak = busiest(*most)->utilisation / mean;
    text += peak < 1.1 ? tr(", as busy as the mean of its {} links", most->links_in_all)
                       : tr(", {} as busy as the mean of its {} links", times(peak), most->links_in_all);
  }
  text += tr(".");
  if (least != most && busiest(*most)->utilisation > same_within * busiest(*least)->utilisation)
    text += tr(" In {} no link is busy for more than {} of the time.", model.named(*least->one),
               percent_at_most(busiest(*least)->utilisation));
  return text;
}

Table table(const ReportModel& model, const Links& chart) {
  Table table;
  table.columns = {{"strategy"}, {"parameters"}, {"link"}, {"from"}, {"to"}, {"bytes", "B"}, {"utilisation"}};
  const auto cell = [](const std::optional<std::string>& text) {
    return text ? Cell(*text) : Cell(std::optional<double>());
  };
  for (const LinksRow& row : chart.rows)
    for (const Link& link : row.links)
      table.rows.push_back({model.label(*row.one), model.text(*row.one), link.name, cell(link.from), cell(link.to),
                            link.bytes, link.utilisation});
  return table;
}

void write_heat(Writer& writer, const Heat& heat) {
  writer.begin_object();
  writer.member("names", heat.names);
  writer.rounded_member("edges_s", heat.edges_s);
  writer.key("values");
  writer.begin_array();
  for (const auto& row : heat.values) {
    writer.begin_array();
    for (const double number : row) writer.rounded(number);
    writer.end_array();
  }
  writer.end_array();
  writer.member("what", heat.utilisation ? "utilisation" : "bytes_per_s");
  writer.end_object();
}

}  // namespace

std::optional<Links> links(const ReportModel& model) {
  std::vector<const Case*> cases = model.ran();
  std::erase_if(cases, [](const Case* one) { return one->runs.front()->record.links.empty(); });
  if (cases.empty()) return std::nullopt;
  const std::size_t most = std::max<std::size_t>(16, most_links_in_all / cases.size());
  const std::size_t heat_rows = std::clamp<std::size_t>(most_heat_cells / cases.size() / 60, 8, most_heat_rows);
  const std::size_t columns =
      std::clamp<std::size_t>(most_heat_cells / cases.size() / heat_rows, 12, most_heat_columns);
  Links chart;
  for (const Case* one : cases) {
    LinksRow& row = chart.rows.emplace_back();
    row.one = one;
    row.links = links_of(*one);
    row.hosts = host_names(one->runs.front()->record);
    name(row.links, row.hosts);
    row.links_in_all = row.links.size();
    row.utilisation_mean = mean_utilisation(row.links);
    keep(row.links, most, one->busiest ? one->busiest->name : "");
    row.heat = heat(one->runs.front()->record, heat_rows, columns);
  }
  chart.sentence = sentence(model, chart);
  chart.table = table(model, chart);
  return chart;
}

void write(Writer& writer, const Links& chart) {
  writer.begin_object();
  write_chart(writer, chart);
  write_objects(writer, "rows", chart.rows, [&](const LinksRow& row) {
    writer.member("strategy", row.one->strategy);
    writer.member("point", row.one->point);
    writer.member("whole", row.links.size() == row.links_in_all);
    write_objects(writer, "links", row.links, [&](const Link& link) {
      writer.member("name", link.name);
      writer.member("text", link.text);
      writer.member("from", link.from);
      writer.member("to", link.to);
      writer.member("bytes", link.bytes);
      writer.member("utilisation", link.utilisation);
    });
    write_objects(writer, "hosts", row.hosts, [&](const auto& host) {
      writer.member("name", host.first);
      writer.member("text", host.second);
    });
    writer.key("heat");
    if (row.heat)
      write_heat(writer, *row.heat);
    else
      writer.null();
  });
  writer.end_object();
}

}  // namespace simgrad::outputs::report
