// The recursion for covers of more than four words.
#include "recursions.hpp"

namespace contextwise {

CONTEXTWISE_RECURSION(Wide<4>, 8);
CONTEXTWISE_RECURSION(Natural, 0);

}  // namespace contextwise
