// The exact solution of a point explosion: the Sedov-Taylor blast wave.
//
// Problem: energy released at a point (3-D) or along a line (2-D) of a cold gas of constant density
// drives a shock whose profile keeps its shape. Find shock radius and profiles at a given time.
// Method: the closed form in Sedov's parameter v ("Similarity and Dimensional Methods", 1959), in
// the standard case of Kamm & Timmes, "On Efficient Generation of Numerically Robust Sedov
// Solutions" (LA-UR-07-2849, 2007), constant density; the energy integral by double-exponential
// quadrature over v, whose end point is singular.
// Cost: microseconds to make, a bisection per point.
#pragma once

#include "stria/status.hpp"

namespace stria::flash {

/// Describes the gas at one radius.
struct SedovState {
  double density = 0;
  double velocity = 0;  ///< radial
  double pressure = 0;
};

class SedovSolution {
 public:
  struct Parameters {
    int dim = 3;  ///< 2: cylindrical, 3: spherical
    double gamma = 1.4;
    double energy = 1;  ///< in 2-D: per unit of length
    double density = 1;
  };

  /// Errors: kInvalidArgument unless dim is 2 or 3, 1 < gamma < 2 and energy and
  /// density are positive.
  static Result<SedovSolution> make(const Parameters& parameters);

  /// \pre time >= 0
  double shock_radius(double time) const;
  /// Returns the time at which the shock has the given radius.
  double time_at(double radius) const;
  /// Returns the gas at a radius. Ahead of the shock: the cold gas at rest. \pre time > 0
  SedovState at(double radius, double time) const;
  /// Returns the dimensionless energy integral alpha: shock radius = (E t^2 / (alpha
  /// rho))^(1/(dim+2)).
  double alpha() const { return alpha_; }

 private:
  explicit SedovSolution(const Parameters& parameters);

  // Radius, velocity, density and pressure in units of their values behind the shock, at parameter
  // v = start + excess, and the logarithmic derivative of the radius.
  struct Profile {
    double radius, velocity, density, pressure, radius_derivative;
  };
  Profile profile(double excess) const;
  double integrate_energy() const;

  Parameters parameters_;
  double start_ = 0;  // v at the origin
  double span_ = 0;   // from there to the shock
  double a_ = 0, b_ = 0, c_ = 0, d_ = 0, e_ = 0;
  double alpha0_ = 0, alpha1_ = 0, alpha2_ = 0, alpha3_ = 0, alpha4_ = 0, alpha5_ = 0;
  double alpha_ = 0;
};

}  // namespace stria::flash
