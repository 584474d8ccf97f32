#include "base/registry.h"

#include <string>

#include "catch.h"

namespace registry_test {

using namespace simgrad::base;

namespace {

struct Shape : Described {
  virtual double area() const = 0;
};

struct Square final : Shape {
  static constexpr About about{.kind = "square", .summary = "Four equal sides.", .cost = "", .source = ""};
  double side = 2.0;
  void describe(Describer& d) override { d.number("side", side, "of each of the four"); }
  double area() const override { return side * side; }
};

struct Disc final : Shape {
  static constexpr About about{.kind = "disc", .summary = "All points within a radius.", .cost = "", .source = ""};
  void describe(Describer&) override {}
  double area() const override { return 3.0; }
};

const Registry<Shape>& shapes() {
  static const Registry<Shape> registry({entry<Shape, Square>(), entry<Shape, Disc>()});
  return registry;
}

}  // namespace

TEST_CASE("a registry finds its kinds by name and keeps their order") {
  REQUIRE(shapes().entries().size() == 2);
  CHECK(shapes().entries()[0].about.kind == "square");
  CHECK(shapes().find("disc")->about.summary == "All points within a radius.");
  CHECK(shapes().find("disk") == nullptr);
}

TEST_CASE("a slot is empty until a kind is chosen") {
  Slot<Shape> slot(shapes());
  CHECK(slot.kind() == "");
  CHECK(slot.object() == nullptr);
  CHECK_FALSE(slot);
  CHECK(slot.kinds().size() == 2);
  REQUIRE(slot.choose("square"));
  CHECK(slot.kind() == "square");
  CHECK(slot->area() == 4.0);
}

TEST_CASE("a slot keeps what it holds when an unknown kind is chosen") {
  Slot<Shape> slot(shapes(), "disc");
  CHECK_FALSE(slot.choose("triangle"));
  CHECK(slot.kind() == "disc");
  CHECK(slot->area() == 3.0);
}

TEST_CASE("choosing a kind again gives a fresh object") {
  Slot<Shape> slot(shapes(), "square");
  const auto before = slot.shared();
  REQUIRE(slot.choose("square"));
  CHECK(slot.shared() != before);
}

TEST_CASE("the example of a kind is apart from the object chosen") {
  Slot<Shape> slot(shapes(), "square");
  CHECK(slot.example("square").get() != slot.object());
  CHECK(slot.example("triangle") == nullptr);
}

}  // namespace registry_test
