#include "cluster/fabric/platform_elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/text.h"
#include "cluster/topologies/topology.h"

namespace simgrad::cluster {

namespace {

/// The elements of SimGrid's DTD that are allowed, each with what it describes. Left out are config (options of
/// SimGrid), process, actor and argument (programs to start), and what SimGrid itself has given up: include, random,
/// storage, storage_type, mount, model_prop.
constexpr std::array<std::pair<std::string_view, std::string_view>, 22> allowed{{
    {"platform", "the whole"},
    {"AS", "a zone, by its old name"},
    {"zone", "hosts and links with the rule by which routes are found"},
    {"cluster", "hosts that are alike, with a link each"},
    {"cabinet", "hosts of a zone of the kind Cluster"},
    {"peer", "a host with its link"},
    {"host", "a host"},
    {"host_link", "the link of a host"},
    {"disk", "a host's disk"},
    {"router", "a place where links meet"},
    {"link", "a link"},
    {"backbone", "the link in the middle of a zone"},
    {"link_ctn", "a link of a route"},
    {"route", "the links between two hosts"},
    {"ASroute", "the links between two zones, by its old name"},
    {"zoneRoute", "the links between two zones"},
    {"bypassRoute", "a route that differs from the rule"},
    {"bypassASroute", "a route that differs from the rule, by its old name"},
    {"bypassZoneRoute", "a route that differs from the rule"},
    {"trace", "speeds or states over time"},
    {"trace_connect", "the host or link that a trace belongs to"},
    {"prop", "a property of a host or link"},
}};

constexpr std::array<std::string_view, 6> attributes_of_files{"file",       "availability_file", "speed_file",
                                                              "state_file", "bandwidth_file",    "latency_file"};

constexpr std::string_view blanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(blanks);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(blanks) - from + 1);
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  for (std::size_t from = 0;;) {
    const std::size_t end = text.find_first_of(separators, from);
    parts.push_back(trimmed(text.substr(from, end - from)));
    if (end == std::string_view::npos) return parts;
    from = end + 1;
  }
}

/// Digits alone: SimGrid would stop at what follows them.
std::optional<std::int64_t> natural(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || text.front() == '-' || fault != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

/// 9 of "0-7,9"
std::int64_t hosts_of_radical(std::string_view radical) {
  std::int64_t hosts = 0;
  for (const std::string_view part : split(radical, ",")) {
    const std::vector<std::string_view> ends = split(part, "-");
    const auto first = natural(ends.front()), last = natural(ends.back());
    constexpr std::int64_t number_most = 2'147'483'646;  // SimGrid counts in an int
    if (!first || !last || ends.size() > 2 || *first > number_most || *last > number_most)
      throw std::invalid_argument(fmt::format(
          "the hosts \"{}\" are no list of numbers, expected one as in radical=\"0-7,9\"", radical.substr(0, 80)));
    if (*last < *first) continue;
    hosts += *last - *first + 1;
    if (hosts > most_ranks) break;
  }
  return hosts;
}

/// SimGrid makes links and switches by the products of these numbers.
void check_topology(std::string_view numbers, std::string_view kind) {
  // A way around a torus passes half of its dimension's hosts, and each of them is asked for two.
  const std::int64_t number_most = kind == "TORUS" ? 512 : most_ranks;
  constexpr std::int64_t product_most = std::int64_t{1} << 40;
  std::int64_t product = 1;
  for (const std::string_view part : split(numbers, ";,")) {
    const auto number = natural(part);
    if (!number) continue;  // SimGrid says how many it wants, and what of
    if (*number <= number_most) product *= std::max<std::int64_t>(*number, 1);
    if (*number > number_most || product > product_most)
      throw std::invalid_argument(fmt::format(
          "the topology \"{}\" is too large, expected numbers of at most {:d} and a product of at most 2^40",
          numbers.substr(0, 80), number_most));
  }
}

/// The value's bytes, with SimGrid's five references read.
std::string without_references(std::string_view raw) {
  constexpr std::array<std::pair<std::string_view, char>, 5> references{
      {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}};
  std::string value;
  while (!raw.empty()) {
    const auto* const found =
        std::ranges::find_if(references, [&](const auto& reference) { return raw.starts_with(reference.first); });
    const bool there = found != references.end();
    value += there ? found->second : raw.front();
    raw.remove_prefix(there ? found->first.size() : 1);
  }
  return value;
}

}  // namespace

std::vector<PlatformAttribute> attributes_of(std::string_view tag) {
  std::vector<PlatformAttribute> attributes;
  for (std::size_t at = tag.find_first_of(blanks); at != std::string_view::npos;) {
    const std::size_t name = tag.find_first_not_of(blanks, at), quote = tag.find_first_of("\"'", at);
    if (quote == std::string_view::npos) break;
    const std::size_t end = tag.find(tag[quote], quote + 1);
    const std::size_t name_end = tag.find_first_of("= \t\r\n", name);
    attributes.push_back({.name = tag.substr(name, name_end - name),
                          .value = without_references(tag.substr(quote + 1, end - quote - 1))});
    at = end + 1;
  }
  return attributes;
}

std::string fault_of_element(const std::string& name) {
  if (std::ranges::any_of(allowed, [&](const auto& each) { return each.first == name; })) return {};
  const std::string element = fmt::format("<{}>", name.substr(0, 80));
  if (name == "config")
    return fmt::format(
        "{} sets options of SimGrid, which can make it write to files and compute other times; expected none: leave "
        "the "
        "element out",
        element);
  if (name == "actor" || name == "process" || name == "argument")
    return fmt::format("{} starts programs, expected hosts and links alone: the scenario says what runs on them",
                       element);
  std::vector<std::string> known;
  for (const auto& [each, what] : allowed) known.emplace_back(each);
  return fmt::format("{} is no element of a platform{}", element, base::suggestion(name, known));
}

std::int64_t hosts_of_element(std::string_view name, const std::vector<PlatformAttribute>& attributes) {
  if (name == "host" || name == "peer") return 1;
  if (name != "cluster" && name != "cabinet") return 0;
  std::int64_t hosts = 0;
  const auto topology = std::ranges::find(attributes, "topology", &PlatformAttribute::name);
  const std::string_view kind = topology == attributes.end() ? std::string_view() : std::string_view(topology->value);
  for (const auto& [key, value] : attributes) {
    if (key == "radical") hosts = hosts_of_radical(value);
    if (key == "topo_parameters") check_topology(value, kind);
  }
  return hosts;
}

bool names_file(std::string_view attribute) {
  return std::ranges::find(attributes_of_files, attribute) != attributes_of_files.end();
}

std::string fault_of_period(const std::string& value) {
  constexpr double period_s_least = 1e-6;
  const double period_s = std::strtod(value.c_str(), nullptr);
  if (period_s >= period_s_least || period_s < 0.0) return {};  // a negative one is none
  return fmt::format("a profile that begins again every {} s, expected at least {} s", period_s, period_s_least);
}

std::string fault_of_profile(std::string_view text) {
  for (const std::string_view line : split(text, "\n")) {
    if (line.starts_with("STOCHASTIC")) return "a profile of random dates, expected dates and values";
    for (const std::string_view keyword : {"PERIODICITY", "LOOPAFTER"})
      if (line.starts_with(keyword))
        if (std::string fault = fault_of_period(std::string(line.substr(keyword.size()))); !fault.empty()) return fault;
  }
  return {};
}

}  // namespace simgrad::cluster
