#include "catch.h"
#include "cli/program.h"
