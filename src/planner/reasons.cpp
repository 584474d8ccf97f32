#include "planner/reasons.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>

#include "base/units.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/recognised.h"

namespace simgrad::planner {

using outputs::tr;

namespace {

constexpr std::string_view of_memory = "does not fit into the memory of its device";

/// "a worker needs 640 GB = ..., but its device has 80 GB": both numbers.
struct MemoryFault {
  double needed_bytes = 0.0, has_bytes = 0.0;
};

MemoryFault memory_fault(const std::string& fault) {
  static const std::regex words(R"(needs ([0-9.e+]+ [A-Za-z]+) =.*but its device has ([0-9.e+]+ [A-Za-z]+))");
  std::smatch found;
  if (!std::regex_search(fault, found, words)) return {};
  return {base::parse_quantity(found[1].str(), base::Unit::bytes),
          base::parse_quantity(found[2].str(), base::Unit::bytes)};
}

}  // namespace

double excess_of(const std::string& fault) {
  const MemoryFault memory = memory_fault(fault);
  return memory.has_bytes > 0.0 ? memory.needed_bytes / memory.has_bytes - 1.0 : 0.0;
}

std::string reason_of(const std::string& fault) {
  if (memory_fault(fault).has_bytes > 0.0) return std::string(of_memory);
  std::string text;
  for (const char c : fault.substr(0, fault.find("; "))) {
    const bool of_number = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!of_number)
      text += c;
    else if (!text.ends_with('N'))
      text += 'N';
  }
  return text;
}

std::vector<Reason> counted(const std::vector<Refused>& refused) {
  std::map<std::string, Reason> reasons;
  for (const Refused& each : refused) {
    Reason& reason = reasons[each.reason];
    reason.text = each.reason;
    ++reason.count;
    if (!reason.nearest || each.excess < reason.nearest->excess) reason.nearest = &each;
  }
  std::vector<Reason> all;
  for (auto& [text, reason] : reasons) all.push_back(std::move(reason));
  std::ranges::stable_sort(all, std::ranges::greater(), &Reason::count);
  return all;
}

std::string text_of(const Reason& reason) {
  const Refused& nearest = *reason.nearest;
  const std::string name = name_of(nearest), fault = outputs::translated(nearest.fault);
  return nearest.excess > 0.0 ? tr("{} too large; the nearest, {}, is {} too large: {}", reason.count, name,
                                   outputs::percentage(nearest.excess), fault)
                              : tr("{} for the same reason, for example {}: {}", reason.count, name, fault);
}

std::vector<std::string> nothing_left(const Candidates& candidates) {
  const std::size_t refused = candidates.refused.size();
  std::vector<std::string> lines{
      candidates.unread > 0
          ? fmt::format("the time was up when {} of {} candidates were read, and none of these can be run; give more "
                        "--seconds:",
                        refused, candidates.size())
          : fmt::format("none of the {} candidates of the search space can be run:", refused)};
  for (const Reason& reason : counted(candidates.refused)) lines.push_back("  " + text_of(reason));
  return lines;
}

}  // namespace simgrad::planner
