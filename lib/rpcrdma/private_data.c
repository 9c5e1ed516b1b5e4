#include "rpcrdma/private_data.h"
