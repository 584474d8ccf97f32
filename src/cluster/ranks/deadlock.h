#pragma once

#include "cluster/ranks/world.h"
