#include "outputs/report/charts/mesh_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "outputs/report/charts/chart.h"

namespace simgrad::outputs::report {
namespace {

using Place = std::optional<std::int64_t> record::MeshUse::*;

struct Along {
  std::string_view name;
  Place place;
};

constexpr std::array<Along, 5> all_dimensions{
    Along{"tensor", &record::MeshUse::tensor}, Along{"context", &record::MeshUse::context},
    Along{"expert", &record::MeshUse::expert}, Along{"data", &record::MeshUse::data},
    Along{"pipeline", &record::MeshUse::pipeline}};

/// The order in which dimensions are left out of a picture that has too many ranks. Stages stay.
constexpr std::array<std::string_view, 4> left_out_first{"data", "tensor", "context", "expert"};

Place place_along(std::string_view dimension) {
  return std::ranges::find(all_dimensions, dimension, &Along::name)->place;
}

std::vector<MeshPicture::Dimension> dimensions_of(const record::Record& record) {
  std::vector<MeshPicture::Dimension> dimensions;
  for (const Along& along : all_dimensions) {
    std::int64_t size = 1;
    for (const record::RankUse& rank : record.ranks) size = std::max(size, (rank.mesh.*along.place).value_or(0) + 1);
    if (size > 1) dimensions.push_back({std::string(along.name), size});
  }
  std::size_t drawn = record.ranks.size();
  for (const std::string_view name : left_out_first) {
    const auto found = std::ranges::find(dimensions, name, &MeshPicture::Dimension::name);
    if (drawn <= most_ranks_drawn || found == dimensions.end()) continue;
    found->drawn = false;
    drawn /= static_cast<std::size_t>(found->size);
  }
  return dimensions;
}

/// Hosts and switches, and those that cables join.
class Joined {
 public:
  std::size_t find(const std::string& name) {
    const auto [at, is_new] = index_.try_emplace(name, parents_.size());
    if (is_new) parents_.push_back(at->second);
    std::size_t root = at->second;
    while (parents_[root] != root) root = parents_[root] = parents_[parents_[root]];
    return root;
  }
  void join(const std::string& a, const std::string& b) {
    const std::size_t first = find(a), second = find(b);
    parents_[std::max(first, second)] = std::min(first, second);
  }

 private:
  std::map<std::string, std::size_t> index_;
  std::vector<std::size_t> parents_;
};

/// The box of each rank, numbered in the order of the ranks.
std::vector<std::int64_t> numbered(const std::vector<std::size_t>& roots) {
  std::map<std::size_t, std::int64_t> numbers;
  std::vector<std::int64_t> boxes;
  for (const std::size_t root : roots)
    boxes.push_back(numbers.try_emplace(root, static_cast<std::int64_t>(numbers.size())).first->second);
  return boxes;
}

std::int64_t count_of(const std::vector<std::int64_t>& boxes) {
  return boxes.empty() ? 0 : *std::ranges::max_element(boxes) + 1;
}

/// The cables by the classes of their links.
std::map<std::string, std::vector<const record::CablingEdge*>> cables_of(const record::Record& record) {
  std::map<std::string_view, const std::string*> classes;
  for (const record::LinkUse& link : record.links) classes[link.link] = &link.link_class;
  std::map<std::string, std::vector<const record::CablingEdge*>> cables;
  for (const record::CablingEdge& wire : record.wires)
    if (const auto found = classes.find(wire.link); found != classes.end()) cables[*found->second].push_back(&wire);
  return cables;
}

/// A class of cables after the other is laid, each time one that leaves as many boxes as possible. NICs, which several
/// switches may join across hosts, come after the cables inside a host.
struct Boxes {
  MeshPicture::Level level;
  std::vector<std::int64_t> of;  ///< by rank
};
std::vector<Boxes> boxes_of(const record::Record& record) {
  constexpr std::size_t most_levels = 2;
  auto cables = cables_of(record);
  const auto laid = [&](const Joined& before, const std::string& link_class) {
    Joined joined = before;
    for (const record::CablingEdge* const wire : cables.at(link_class)) joined.join(wire->from, wire->to);
    return joined;
  };
  const auto of_ranks = [&](Joined& joined) {
    std::vector<std::size_t> roots;
    for (const record::RankUse& rank : record.ranks) roots.push_back(joined.find(fmt::format("host-{}", rank.host)));
    return numbered(roots);
  };
  Joined joined;
  std::vector<std::int64_t> boxes = of_ranks(joined);
  std::vector<Boxes> levels;
  if (const std::int64_t hosts = count_of(boxes); hosts > 1 && std::cmp_less(hosts, record.ranks.size()))
    levels.push_back({{"", hosts}, boxes});
  while (levels.size() < most_levels) {
    std::string best;
    std::pair<bool, std::int64_t> most{false, 0};
    for (const auto& [link_class, class_cables] : cables) {
      Joined tried = laid(joined, link_class);
      const std::int64_t left = count_of(of_ranks(tried));
      const std::pair<bool, std::int64_t> value{link_class != "nic", left};
      if (left < count_of(boxes) && value > most) std::tie(best, most) = std::pair(link_class, value);
    }
    const std::int64_t left = most.second;
    if (left <= 1) break;
    joined = laid(joined, best);
    boxes = of_ranks(joined);
    levels.push_back({{best, left}, boxes});
    cables.erase(best);
  }
  return levels;
}

}  // namespace

MeshPicture mesh_picture(const record::Record& record) {
  MeshPicture picture{.ranks_in_all = static_cast<std::int64_t>(record.ranks.size()),
                      .dimensions = dimensions_of(record)};
  const std::vector<Boxes> levels = boxes_of(record);
  for (const Boxes& boxes : levels) picture.levels.push_back(boxes.level);
  for (std::size_t r = 0; r < record.ranks.size() && picture.ranks.size() < most_ranks_drawn; ++r) {
    MeshPicture::Rank rank{.rank = static_cast<std::int64_t>(r), .stage = record.ranks[r].mesh.pipeline.value_or(0)};
    bool drawn = true;
    for (const MeshPicture::Dimension& dimension : picture.dimensions) {
      rank.places.push_back((record.ranks[r].mesh.*place_along(dimension.name)).value_or(0));
      drawn = drawn && (dimension.drawn || rank.places.back() == 0);
    }
    if (!drawn) continue;
    for (const Boxes& boxes : levels) rank.boxes.push_back(boxes.of[r]);
    picture.ranks.push_back(std::move(rank));
  }
  return picture;
}

void write(Writer& writer, const MeshPicture& picture) {
  writer.begin_object();
  writer.member("ranks_in_all", picture.ranks_in_all);
  write_objects(writer, "dimensions", picture.dimensions, [&](const MeshPicture::Dimension& dimension) {
    writer.member("name", dimension.name);
    writer.member("size", dimension.size);
    writer.member("drawn", dimension.drawn);
  });
  write_objects(writer, "levels", picture.levels, [&](const MeshPicture::Level& level) {
    writer.member("link_class", level.link_class);
    writer.member("boxes", level.boxes);
  });
  write_objects(writer, "ranks", picture.ranks, [&](const MeshPicture::Rank& rank) {
    writer.member("rank", rank.rank);
    writer.member("stage", rank.stage);
    writer.member("places", rank.places);
    writer.member("boxes", rank.boxes);
  });
  writer.end_object();
}

}  // namespace simgrad::outputs::report
