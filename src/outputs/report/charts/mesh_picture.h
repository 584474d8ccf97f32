/// The picture of a cut model's mesh: some of its ranks, their places, and the boxes that cables of one class join.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "outputs/report/data/writer.h"
#include "record/record.h"

namespace simgrad::outputs::report {

struct MeshPicture {
  struct Dimension {
    std::string name;
    std::int64_t size = 0;  ///< more than 1
    bool drawn = true;      ///< else ranks with place 0 along it alone
    friend bool operator==(const Dimension&, const Dimension&) = default;
  };
  /// Boxes around ranks: of one host, or joined by cables of that class and of the classes of the levels before.
  struct Level {
    std::string link_class;  ///< empty: the ranks of one host
    std::int64_t boxes = 0;  ///< of all ranks
    friend bool operator==(const Level&, const Level&) = default;
  };
  struct Rank {
    std::int64_t rank = 0;
    std::int64_t stage = 0;
    std::vector<std::int64_t> places = {};  ///< along each of `dimensions`
    std::vector<std::int64_t> boxes = {};   ///< its box of each of `levels`
    friend bool operator==(const Rank&, const Rank&) = default;
  };

  std::int64_t ranks_in_all = 0;
  std::vector<Dimension> dimensions = {};
  std::vector<Level> levels = {};  ///< the smallest boxes first; at most two
  std::vector<Rank> ranks = {};

  friend bool operator==(const MeshPicture&, const MeshPicture&) = default;
};

/// With more ranks one replica is drawn, or of it ranks with place 0 along further dimensions, or the first of these.
inline constexpr std::size_t most_ranks_drawn = 64;

/// record: of a run whose model is cut.
MeshPicture mesh_picture(const record::Record& record);

void write(Writer& writer, const MeshPicture& picture);

}  // namespace simgrad::outputs::report
