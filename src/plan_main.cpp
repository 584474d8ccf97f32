#include "plan_cli/plan_cli.h"

int main(int argc, char** argv) { return simgrad::cli::run(argc, argv, simgrad::plan_cli::commands); }
