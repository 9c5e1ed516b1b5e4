#include "nfs/nfs.h"
