// The layer at rest: a polytropic atmosphere, heated from below, in units of its depth and of
// temperature and density at the top (Cattaneo and others, Astrophysical Journal 370, 1991).
//
// Depth z grows downwards, and so does gravity. Temperature grows with depth by `contrast`; a
// polytropic index below 1 / (gamma - 1) is unstable to convection.
#pragma once

#include <cmath>
#include <cstdint>

namespace stria::convection {

struct Layer {
  double aspect = 2;           ///< width, in depths
  double contrast = 6;         ///< rise of the temperature over the depth, in the top's temperature
  double index = 1;            ///< polytropic
  double gamma = 5.0 / 3.0;    ///< ratio of specific heats
  double conductivity = 0.02;  ///< that of heat at the top; it grows as the root of the temperature
  double kick = 0.02;          ///< speed of the first disturbance, in the top's speed of sound

  double temperature(double depth) const { return 1 + contrast * depth; }
  double density(double depth) const { return std::pow(temperature(depth), index); }
  double pressure(double depth) const { return std::pow(temperature(depth), index + 1); }
  double conductivity_at(double temperature) const { return conductivity * std::sqrt(temperature); }
  /// Heat that enters through the bottom, for each unit of area and time.
  double heating() const { return conductivity_at(temperature(1)) * contrast; }
};

}  // namespace stria::convection
