#include "values/ready_queue.h"

#include "catch.h"
#include "values/kernels.h"

namespace simgrad::values {

using Names = std::vector<std::string>;

TEST_CASE("ready work runs in the order of its oldest consumers, and unread work last") {
  Dispatcher dispatcher({.threads = 1});
  const Log log;
  Gate gate(dispatcher);
  REQUIRE(gate.holds_a_thread());
  const Tensor unread = logged(dispatcher, log, "unread");
  const Tensor a = logged(dispatcher, log, "a");
  const Tensor b = logged(dispatcher, log, "b");
  const Tensor c = logged(dispatcher, log, "c");
  const Tensor of_c = logged(dispatcher, log, "of c", {c});
  const Tensor of_a = logged(dispatcher, log, "of a", {a});
  const Tensor of_both = logged(dispatcher, log, "of both", {a, b});
  gate.open();
  REQUIRE(eventually([&] { return log.names().size() == 7; }));
  CHECK(log.names() == Names{"c", "a", "b", "unread", "of c", "of a", "of both"});
}

TEST_CASE("a consumer that is dropped no longer counts as the oldest") {
  Dispatcher dispatcher({.threads = 1});
  const Log log;
  Gate gate(dispatcher);
  REQUIRE(gate.holds_a_thread());
  const Tensor a = logged(dispatcher, log, "a");
  const Tensor b = logged(dispatcher, log, "b");
  Tensor first_of_b = logged(dispatcher, log, "first of b", {b});
  const Tensor of_a = logged(dispatcher, log, "of a", {a});
  const Tensor of_b = logged(dispatcher, log, "of b", {b});
  first_of_b = Tensor();
  gate.open();
  REQUIRE(eventually([&] { return log.names().size() == 4; }));
  CHECK(log.names() == Names{"a", "b", "of a", "of b"});
}

TEST_CASE("awaited work, and all that it needs, runs before all other work") {
  Dispatcher dispatcher({.threads = 1});
  const Log log;
  Gate gate(dispatcher);
  REQUIRE(gate.holds_a_thread());
  const Tensor a = logged(dispatcher, log, "a");
  const Tensor of_a = logged(dispatcher, log, "of a", {a});
  const Tensor b = logged(dispatcher, log, "b");
  const Tensor of_b = logged(dispatcher, log, "of b", {b});
  const Tensor urgent = logged(dispatcher, log, "urgent", {of_b});
  std::thread opener([&] {
    wait_a_while();
    gate.open();
  });
  (void)urgent.value();
  opener.join();
  const Names names = log.names();
  CHECK(Names(names.begin(), names.begin() + 3) == Names{"b", "of b", "urgent"});
}

TEST_CASE("results that nobody reads stop growing at their limit") {
  constexpr std::int64_t size = 1000, limit = 10 * 8 * size;
  constexpr int threads = 2;
  Dispatcher dispatcher({.threads = threads, .unread_bytes_limit = limit});
  const Log log;
  std::vector<Tensor> gradients;
  for (int k = 0; k < 100; ++k) gradients.push_back(logged(dispatcher, log, "gradient", {}, size));
  REQUIRE(eventually([&] { return log.names().size() == 11; }));  // the eleventh outgrows the limit
  wait_a_while();
  CHECK(log.names().size() == 11);

  gradients.pop_back();  // held: it is dropped without a trace
  gradients.erase(gradients.begin(), gradients.begin() + 5);
  CHECK(eventually([&] { return log.names().size() == 16; }));

  (void)gradients[0].value();  // read: its bytes count no longer
  CHECK(eventually([&] { return log.names().size() == 17; }));

  CHECK(sum(gradients).value()[0] == 94.0);
  CHECK(log.names().size() == 99);
}

TEST_CASE("a slice does not read its tensor, the slice's consumer does") {
  Dispatcher dispatcher({.threads = 1, .unread_bytes_limit = 0});
  const Log log;
  const Tensor a = logged(dispatcher, log, "a", {}, 10);
  REQUIRE(eventually([&] { return log.names().size() == 1; }));
  const Tensor of_a = slice(a, 0, 5);
  const Tensor b = logged(dispatcher, log, "b", {}, 10);
  wait_a_while();
  CHECK(log.names() == Names{"a"});
  const Tensor twice = 2.0 * of_a;
  CHECK(eventually([&] { return log.names() == Names{"a", "b"}; }));
}

TEST_CASE("held work starts when the timeline waits for room") {
  Dispatcher dispatcher({.threads = 2, .pending_limit = 4, .unread_bytes_limit = 0});
  const Log log;
  std::vector<Tensor> gradients;
  for (int k = 0; k < 100; ++k) {
    gradients.push_back(logged(dispatcher, log, "gradient"));
    CHECK(static_cast<int>(log.names().size()) >= k + 1 - 4);
  }
  CHECK(sum(gradients).value()[0] == 100.0);
}

TEST_CASE("no more closures are pending than the limit allows") {
  for (const int limit : {1, 2, 7, 16}) {
    Dispatcher dispatcher({.threads = 2, .pending_limit = limit});
    const auto alive = std::make_shared<int>(0);  // one more owner a closure
    std::vector<Tensor> all;
    for (int k = 0; k < 200; ++k) {
      all.push_back(dispatcher.dispatch({.name = "hold", .seconds = long_s, .numbered = false}, 1, {},
                                        [alive](auto, std::span<double> result) { result[0] = 1.0; }));
      CHECK(alive.use_count() - 1 <= limit + 2);  // two may have run and not be destroyed yet
    }
    CHECK(sum(all).value()[0] == 200.0);
  }
}

}  // namespace simgrad::values
