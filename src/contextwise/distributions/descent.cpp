// The Python module `_descent`: converts arrays and calls descent.hpp.
#include "descent.hpp"

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include "../python_arrays.hpp"

using namespace nanobind::literals;
using contextwise::array_of, contextwise::Array, contextwise::check_signals, contextwise::NewArray;
using namespace contextwise::descent;
namespace nb = nanobind;

namespace {

using Ints = Array<std::int64_t>;
using Shorts = Array<std::int32_t>;
using Floats = Array<double>;

NewArray<double> minimum(const Ints& indptr, const Shorts& indices, const Floats& data,
                         const Ints& starts, const Floats& curvatures, const Floats& prices,
                         const Floats& point, const Floats& gradient, int passes,
                         double tolerance) {
  const Quadratic model{{indptr.data(), indices.data(), data.data()},
                        static_cast<std::int64_t>(starts.size()) - 1,
                        starts.data(),
                        curvatures.data(),
                        prices.data()};
  std::vector<double> x(point.data(), point.data() + point.size());
  std::vector<double> pull(gradient.data(), gradient.data() + gradient.size());
  {
    const nb::gil_scoped_release release;
    descend(model, passes, tolerance, x.data(), pull.data(), check_signals);
  }
  return array_of(x);
}

std::tuple<NewArray<std::int64_t>, NewArray<std::int32_t>, NewArray<double>> gram(
    const Ints& indptr, const Shorts& indices, const Floats& data, const Ints& turned_indptr,
    const Shorts& turned_indices, const Floats& turned_data, const Floats& scale,
    const Ints& chosen) {
  const Matrix matrix{indptr.data(), indices.data(), data.data()};
  const Matrix turned{turned_indptr.data(), turned_indices.data(), turned_data.data()};
  const auto size = static_cast<std::int64_t>(chosen.size());
  const std::int64_t columns = static_cast<std::int64_t>(turned_indptr.size()) - 1;
  Triangle product;
  {
    const nb::gil_scoped_release release;
    product = mirrored(
        upper_triangle(matrix, turned, columns, scale.data(), chosen.data(), size, check_signals));
  }
  return {array_of(product.starts), array_of(product.indices), array_of(product.data)};
}

}  // namespace

NB_MODULE(_descent, module) {
  module.doc() = "The compiled twin of contextwise.distributions.descent.";
  nb::set_leak_warnings(false);
  module.def("descend", &minimum, "indptr"_a, "indices"_a, "data"_a, "starts"_a, "curvatures"_a,
             "prices"_a, "point"_a, "pull"_a, "passes"_a, "tolerance"_a);
  module.def("gram", &gram, "indptr"_a, "indices"_a, "data"_a, "turned_indptr"_a,
             "turned_indices"_a, "turned_data"_a, "scale"_a, "chosen"_a);
}
