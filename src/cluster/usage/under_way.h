/// The messages that are under way, by rank.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace simgrad::cluster {

class MessagesUnderWay;

/// One from its start to its end. It must stay where it is meanwhile.
struct UnderWay {
  int source = 0;
  int target = 0;
  double bytes = 0.0;
  MessagesUnderWay* list = nullptr;        ///< that it is in; null: none
  std::array<std::size_t, 2> places = {};  ///< in the lists of its ends
};

class MessagesUnderWay {
 public:
  explicit MessagesUnderWay(std::size_t ranks) : of_(ranks) {}
  MessagesUnderWay(const MessagesUnderWay&) = delete;
  MessagesUnderWay& operator=(const MessagesUnderWay&) = delete;

  void add(UnderWay& message) {
    message.list = this;
    for (const std::size_t end : {0, 1}) {
      std::vector<UnderWay*>& all = at(message, end);
      message.places[end] = all.size();
      all.push_back(&message);
    }
  }
  void remove(UnderWay& message) {
    message.list = nullptr;
    for (const std::size_t end : {0, 1}) {
      std::vector<UnderWay*>& all = at(message, end);
      UnderWay& last = *all.back();
      last.places[&at(last, 0) == &all ? 0 : 1] = message.places[end];
      all[message.places[end]] = &last;
      all.pop_back();
    }
  }
  /// From or to a rank.
  std::span<UnderWay* const> of(int rank) const { return of_[static_cast<std::size_t>(rank)]; }

 private:
  std::vector<UnderWay*>& at(const UnderWay& message, std::size_t end) {
    return of_[static_cast<std::size_t>(end == 0 ? message.source : message.target)];
  }

  std::vector<std::vector<UnderWay*>> of_;
};

}  // namespace simgrad::cluster
