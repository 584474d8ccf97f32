/// The files that drawn scenarios name: data, graphs, traces, profiles and a platform, each as small as it may be.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/errors.h"
#include "fuzz/draw.h"

namespace simgrad::fuzz {

namespace {

constexpr const char* platform = R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="world" routing="Full">
    <host id="a" speed="10Gf"><prop id="price" value="1$/h"/></host>
    <host id="b" speed="5Gf"/>
    <host id="c" speed="10Gf"/>
    <host id="d" speed="20Gf"/>
    <link id="nic-0" bandwidth="1Gbps" latency="50us"/>
    <link id="nic-1" bandwidth="10Gbps" latency="5us"/>
    <link id="nic-2" bandwidth="1Gbps" latency="0s" sharing_policy="FATPIPE"/>
    <route src="a" dst="b"><link_ctn id="nic-0"/></route>
    <route src="b" dst="c"><link_ctn id="nic-1"/></route>
    <route src="c" dst="d"><link_ctn id="nic-2"/></route>
    <route src="a" dst="c"><link_ctn id="nic-0"/><link_ctn id="nic-1"/></route>
    <route src="b" dst="d"><link_ctn id="nic-1"/><link_ctn id="nic-2"/></route>
    <route src="a" dst="d"><link_ctn id="nic-0"/><link_ctn id="nic-1"/><link_ctn id="nic-2"/></route>
  </zone>
</platform>
)";

/// A GPT-2 of two small layers, as Hugging Face writes it down.
constexpr const char* config = R"({"model_type": "gpt2", "n_layer": 2, "n_embd": 8, "n_head": 2, "n_positions": 8,
 "vocab_size": 16, "n_inner": 16, "tie_word_embeddings": true, "activation_function": "gelu_new",
 "embd_pdrop": 0.0, "attn_pdrop": 0.0, "resid_pdrop": 0.0}
)";

constexpr const char* operator_tables = R"([[operator]]
name = "in"
flops = 2e6
parameters = 200
output_bytes = 4096

[[operator]]
name = "nothing"
inputs = ["in"]
flops = 0
output_bytes = 0

[[operator]]
name = "out"
inputs = ["in", "nothing"]
flops = 1e6
backward_flops = 3e6
parameters = 100
output_bytes = 8
)";

/// `n_dimensions` big-endian sizes, then bytes: the format of MNIST.
std::string idx(const std::string& sizes, const std::string& bytes) {
  std::string text{0, 0, 8, static_cast<char>(sizes.size())};
  for (const char size : sizes) text += std::string(3, '\0') + size;
  return text + bytes;
}

/// Format 1.0 of numpy.save.
std::string npy(const std::string& shape, const std::string& bytes) {
  std::string header = fmt::format("{{'descr': '|u1', 'fortran_order': False, 'shape': ({}), }}", shape);
  header.resize(117, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + bytes;
}

std::string rows_of_csv() {
  std::string rows = "area,rooms,price\n";
  for (int i = 0; i < 40; ++i) rows += fmt::format("{},{},{}\n", 30 + i, i % 4, i % 3);
  return rows;
}

std::string rows_of_libsvm() {
  std::string rows;
  for (int i = 0; i < 40; ++i) rows += fmt::format("{} {}:1 {}:0.5\n", i % 2, 1 + i % 3, 4 + i % 5);
  return rows;
}

/// Layers with and without parameters, work, activations.
std::string layers(bool of_nothing) {
  std::string rows = "name,parameters,forward_flops,backward_flops,activation_bytes\n";
  if (of_nothing) rows += "lookup,0,0,0,64\n";
  rows += "first,300,1e5,2e5,256\nsecond,200,2e5,4e5,128\n";
  if (of_nothing) rows += "pooling,0,1e4,1e4,0\nidle,0,0,0,0\n";
  rows += "third,100,1e5,2e5,64\n";
  return of_nothing ? rows + "loss,0,0,0,0\n" : rows;
}

std::string operators(bool of_nothing) {
  std::string rows = "name,inputs,flops,output_bytes,parameters\n";
  rows += of_nothing ? "in,,0,0,0\nleft,in,0,64,0\nright,in,1e5,0,10\nout,left right,0,0,0\n"
                     : "in,,1e5,64,10\nleft,in,2e5,64,0\nright,in,3e5,32,20\nout,left right,1e5,8,5\n";
  return rows;
}

}  // namespace

void write_companions(const std::string& directory) {
  const auto write = [&](const char* name, const std::string& text) {
    const std::filesystem::path path = std::filesystem::path(directory) / name;
    std::ofstream stream(path, std::ios::binary);
    stream << text;
    if (!stream.flush()) throw base::EnvironmentError(fmt::format("{}: cannot be written", path.string()));
  };
  std::string bytes, labels, words;
  for (int i = 0; i < 24; ++i) {
    bytes += std::string{static_cast<char>(i), static_cast<char>(3 * i % 7), static_cast<char>(i % 2)};
    labels += static_cast<char>(i % 2);
    words += "a cat sat on a mat, and a dog ran.\n";
  }
  write("data.csv", rows_of_csv());
  write("data.libsvm", rows_of_libsvm());
  write("ratings.csv", "user,item,rating\n1,1,3\n1,2,4\n2,1,5\n2,3,1\n3,2,2\n3,3,3\n1,3,2\n2,2,4\n");
  write("text.txt", words);
  write("samples.idx", idx("\x18\x03", bytes));
  write("labels.idx", idx("\x18", labels));
  write("samples.npy", npy("24, 3", bytes));
  write("labels.npy", npy("24,", labels));
  write("graph.edges", "0 1\n1 2\n2 3\n3 0\n");
  write("mixing.txt", "0.5 0.25 0 0.25\n0.25 0.5 0.25 0\n0 0.25 0.5 0.25\n0.25 0 0.25 0.5\n");
  write("failures.csv", "host,down_at,up_at\n0,0.0005,0.001\n1,0.002,0.0021\n");
  write("faults.csv", "server,start_day,end_day,level,class\n1,1,1.5,1,a\n2,3,4,2,b\n1,10,10.1,1,a\n");
  write("speeds.txt", "0 1\n0.001 0.5\nPERIODICITY 0.002\n");
  write("platform.xml", platform);
  write("config.json", config);
  write("layers.csv", layers(false));
  write("layers_of_nothing.csv", layers(true));
  write("operators.csv", operators(false));
  write("operators_of_nothing.csv", operators(true));
  write("operators.toml", operator_tables);
  write("measured.csv",
        "ranks,bytes,seconds\n2,8,1e-5\n2,1000000,1e-3\n4,8,2e-5\n4,1000000,2e-3\n8,8,3e-5\n8,1000000,3e-3\n");
  // A small transformer that was trained on such a text.
  std::filesystem::copy_file(SIMGRAD_SOURCE_DIR "/tests/fuzz/corpus/model/text",
                             std::filesystem::path(directory) / "served.model",
                             std::filesystem::copy_options::overwrite_existing);
  write("requests.csv", "arrival_s,prompt_tokens,output_tokens\n0,2,1\n0.001,1,3\n0.001,3,2\n0.5,2,2\n");
}

}  // namespace simgrad::fuzz
