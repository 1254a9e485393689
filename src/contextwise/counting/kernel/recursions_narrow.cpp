// The recursion for covers of up to two words.
#include "recursions.hpp"

namespace contextwise {

CONTEXTWISE_RECURSION(Wide<1>, 1);
CONTEXTWISE_RECURSION(Wide<1>, 2);

}  // namespace contextwise
