// The recursion for covers of three and four words.
#include "recursions.hpp"

namespace contextwise {

CONTEXTWISE_RECURSION(Wide<2>, 3);
CONTEXTWISE_RECURSION(Wide<2>, 4);

}  // namespace contextwise
