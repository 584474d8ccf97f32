#include "capacity/queue.h"

#include <algorithm>

namespace simgrad::capacity {

std::vector<std::size_t> starts(const std::vector<Queued>& queue, std::vector<Busy> busy, int room, double now_s,
                                bool backfill) {
  std::vector<std::size_t> all;
  std::size_t first = 0;
  for (; first < queue.size() && queue[first].hosts <= room; ++first) {
    all.push_back(first);
    room -= queue[first].hosts;
    busy.push_back({.hosts = queue[first].hosts, .end_s = now_s + queue[first].duration_s});
  }
  if (!backfill || first == queue.size() || room == 0) return all;
  std::ranges::stable_sort(busy, {}, &Busy::end_s);
  int then = room;  // when the first of the queue has room
  std::size_t ended = 0;
  while (then < queue[first].hosts && ended < busy.size()) then += busy[ended++].hosts;
  if (then < queue[first].hosts) return all;
  const double shadow_s = busy[ended - 1].end_s;
  for (; ended < busy.size() && busy[ended].end_s <= shadow_s; ++ended) then += busy[ended].hosts;
  int spare = then - queue[first].hosts;  // that the first of the queue leaves
  for (std::size_t i = first + 1; i < queue.size() && room > 0; ++i) {
    const bool in_time = now_s + queue[i].duration_s <= shadow_s;
    if (queue[i].hosts > room || (!in_time && queue[i].hosts > spare)) continue;
    all.push_back(i);
    room -= queue[i].hosts;
    if (!in_time) spare -= queue[i].hosts;
  }
  return all;
}

}  // namespace simgrad::capacity
