#include "rpcrdma/header.h"
