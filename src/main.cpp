#include "cli/cli.h"

int main(int argc, char** argv) { return simgrad::cli::run(argc, argv); }
