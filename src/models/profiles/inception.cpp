/// The layers of Inception v3.
#include <fmt/format.h>

#include <initializer_list>

#include "models/profiles/convolutions.h"
#include "models/profiles/image_networks.h"

namespace simgrad::models {

namespace {

Convolution normed(std::int64_t kernel, std::int64_t channels, std::int64_t stride = 1, std::int64_t padding = 0) {
  return {.kernel = kernel, .channels = channels, .stride = stride, .padding = padding, .batch_norm = true};
}
/// k places in a row or in a column, padded so that an image keeps its size.
Convolution stripe(std::int64_t k, std::int64_t channels) {
  return {.kernel = k, .across = 1, .channels = channels, .padding = k / 2, .batch_norm = true};
}

/// One block: branches from its input, whose channels are joined.
class InceptionBlock {
 public:
  InceptionBlock(ConvolutionalLayers& network, std::string name)
      : network_(network), name_(std::move(name)), in_(network.image()) {
    network.begin_unit();
  }

  /// Convolutions one behind the other.
  InceptionBlock& branch(std::initializer_list<Convolution> convolutions) {
    begin_branch();
    for (const Convolution& shape : convolutions) convolve(shape);
    return joined();
  }
  /// Adds a branch that ends in two convolutions side by side, a row's and a column's, whose channels are joined.
  InceptionBlock& fork(std::initializer_list<Convolution> convolutions, const Convolution& shape) {
    begin_branch();
    for (const Convolution& one : convolutions) convolve(one);
    const Image from = network_.image();
    channels_ += network_.convolve(next_name(), shape, from).channels;
    convolve(shape);
    return joined();
  }
  /// An average of 3 x 3 places, then a convolution of one.
  InceptionBlock& average(std::int64_t channels) {
    network_.go_on_from(in_);
    network_.pool(3, 1, 1, false);
    network_.convolve(next_name(), normed(1, channels));
    return joined();
  }
  /// The largest of 3 x 3 places, every second one.
  InceptionBlock& largest() {
    network_.go_on_from(in_);
    network_.pool(3, 2, 0, true);
    return joined();
  }
  /// Ends the block.
  void join() { network_.go_on_from({channels_, size_}); }

 private:
  void begin_branch() {
    network_.go_on_from(in_);
    keeps_input_ = branches_++ == 0;
  }
  /// The block's input is kept once, for all branches.
  void convolve(const Convolution& shape) {
    const Image from = network_.image();
    if (keeps_input_)
      network_.convolve(next_name(), shape);
    else
      network_.go_on_from(network_.convolve(next_name(), shape, from));
    keeps_input_ = true;
  }
  InceptionBlock& joined() {
    channels_ += network_.image().channels;
    size_ = network_.image().size;
    return *this;
  }
  std::string next_name() { return fmt::format("{}: convolution {}", name_, ++convolutions_); }

  ConvolutionalLayers& network_;
  std::string name_;
  Image in_;
  std::int64_t channels_ = 0, size_ = 0;
  int branches_ = 0, convolutions_ = 0;
  bool keeps_input_ = true;
};

void add_stem(ConvolutionalLayers& network) {
  network.begin_unit();
  network.convolve("stem 1", normed(3, 32, 2));
  network.convolve("stem 2", normed(3, 32));
  network.convolve("stem 3", normed(3, 64, 1, 1));
  network.pool(3, 2, 0, true);
  network.convolve("stem 4", normed(1, 80));
  network.convolve("stem 5", normed(3, 192));
  network.pool(3, 2, 0, true);
}

/// Blocks of 35 x 35 places.
void add_wide_blocks(ConvolutionalLayers& network) {
  for (const std::int64_t pooled : {32, 64, 64})
    InceptionBlock(network, fmt::format("block of 35 x 35, {} pooled", pooled))
        .branch({normed(1, 64)})
        .branch({normed(1, 48), normed(5, 64, 1, 2)})
        .branch({normed(1, 64), normed(3, 96, 1, 1), normed(3, 96, 1, 1)})
        .average(pooled)
        .join();
  InceptionBlock(network, "to 17 x 17")
      .branch({normed(3, 384, 2)})
      .branch({normed(1, 64), normed(3, 96, 1, 1), normed(3, 96, 2)})
      .largest()
      .join();
}

/// Blocks of 17 x 17 places, whose windows are stripes of seven.
void add_striped_blocks(ConvolutionalLayers& network) {
  for (const std::int64_t c : {128, 160, 160, 192})
    InceptionBlock(network, fmt::format("block of 17 x 17, {} channels", c))
        .branch({normed(1, 192)})
        .branch({normed(1, c), stripe(7, c), stripe(7, 192)})
        .branch({normed(1, c), stripe(7, c), stripe(7, c), stripe(7, c), stripe(7, 192)})
        .average(192)
        .join();
  InceptionBlock(network, "to 8 x 8")
      .branch({normed(1, 192), normed(3, 320, 2)})
      .branch({normed(1, 192), stripe(7, 192), stripe(7, 192), normed(3, 192, 2)})
      .largest()
      .join();
}

/// Blocks of 8 x 8 places.
void add_forked_blocks(ConvolutionalLayers& network) {
  for (const int block : {1, 2})
    InceptionBlock(network, fmt::format("block of 8 x 8, {}", block))
        .branch({normed(1, 320)})
        .fork({normed(1, 384)}, stripe(3, 384))
        .fork({normed(1, 448), normed(3, 384, 1, 1)}, stripe(3, 384))
        .average(192)
        .join();
}

}  // namespace

std::vector<Layer> InceptionV3::profile() const {
  ConvolutionalLayers network({.channels = 3, .size = image_size});
  add_stem(network);
  add_wide_blocks(network);
  add_striped_blocks(network);
  add_forked_blocks(network);
  network.average_to(1);
  network.begin_unit();
  network.dense("classes", classes, false);
  return network.take();
}

}  // namespace simgrad::models
