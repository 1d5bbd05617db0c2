#include "sedov/exact.hpp"

#include <cassert>
#include <cmath>
#include <numbers>
#include <string>

namespace stria::flash {

Result<SedovSolution> SedovSolution::make(const Parameters& p) {
  if (p.dim != 2 && p.dim != 3) {
    return Status(ErrorCode::kInvalidArgument, "the blast wave is known in 2 or 3 dimensions, not " + std::to_string(p.dim));
  }
  if (!(p.gamma > 1 && p.gamma < 2) || !(p.energy > 0) || !(p.density > 0)) {
    return Status(ErrorCode::kInvalidArgument, "the blast wave needs 1 < gamma < 2, energy > 0 and density > 0");
  }
  return SedovSolution(p);
}

SedovSolution::SedovSolution(const Parameters& parameters) : parameters_(parameters) {
  const double j = parameters.dim;
  const double g = parameters.gamma;
  const double k = j + 2;
  start_ = 2 / (k * g);
  span_ = 4 / (k * (g + 1)) - start_;
  a_ = k * (g + 1) / 4;
  b_ = (g + 1) / (g - 1);
  c_ = k * g / 2;
  d_ = k * (g + 1) / (k * (g + 1) - 2 * (2 + j * (g - 1)));
  e_ = (2 + j * (g - 1)) / 2;
  alpha0_ = 2 / k;
  alpha2_ = -(g - 1) / (2 * (g - 1) + j);
  alpha1_ = k * g / (2 + j * (g - 1)) * (2 * j * (2 - g) / (g * k * k) - alpha2_);
  alpha3_ = j / (2 * (g - 1) + j);
  alpha4_ = k * alpha1_ / (2 - g);
  alpha5_ = -2 / (2 - g);
  alpha_ = integrate_energy();
}

SedovSolution::Profile SedovSolution::profile(double excess) const {
  const double v = start_ + excess;
  const double x1 = a_ * v;
  const double x2 = b_ * c_ * excess;  // b (c v - 1), without the cancellation near the origin
  const double x3 = d_ * (1 - e_ * v);
  const double x4 = b_ * (1 - c_ / parameters_.gamma * v);
  const double radius = std::pow(x1, -alpha0_) * std::pow(x2, -alpha2_) * std::pow(x3, -alpha1_);
  return {radius, x1 * radius, std::pow(x2, alpha3_) * std::pow(x3, alpha4_) * std::pow(x4, alpha5_),
          std::pow(x1, alpha0_ * parameters_.dim) * std::pow(x3, alpha4_ - 2 * alpha1_) * std::pow(x4, 1 + alpha5_),
          -alpha0_ * a_ / x1 - alpha2_ * b_ * c_ / x2 + alpha1_ * d_ * e_ / x3};
}

double SedovSolution::integrate_energy() const {
  const double g = parameters_.gamma;
  const int j = parameters_.dim;
  // Kinetic and internal energy behind the shock in units of density * (shock speed)^2.
  const double kinetic = 0.5 * (g + 1) / (g - 1) * 4 / ((g + 1) * (g + 1));
  const double internal = 2 / ((g + 1) * (g - 1));
  // The substitution v = start + span * s(t), s = 1 / (1 + exp(-pi sinh t)), flattens both ends.
  const double step = 1.0 / 64;
  double sum = 0;
  for (int n = -256; n <= 256; ++n) {
    const double t = n * step;
    const double s = 1 / (1 + std::exp(-std::numbers::pi * std::sinh(t)));
    const double weight = std::numbers::pi * std::cosh(t) * s * (1 - s);
    if (weight < 1e-300) {
      continue;
    }
    const Profile p = profile(span_ * s);
    const double density = kinetic * p.density * p.velocity * p.velocity + internal * p.pressure;
    sum += density * std::pow(p.radius, j) * p.radius_derivative * span_ * weight * step;
  }
  const double speed = 2.0 / (j + 2);
  const double solid_angle = j == 2 ? 2 * std::numbers::pi : 4 * std::numbers::pi;
  return solid_angle * speed * speed * sum;
}

double SedovSolution::shock_radius(double time) const {
  assert(time >= 0);
  return std::pow(parameters_.energy * time * time / (alpha_ * parameters_.density), 1.0 / (parameters_.dim + 2));
}

double SedovSolution::time_at(double radius) const {
  return std::sqrt(std::pow(radius, parameters_.dim + 2) * alpha_ * parameters_.density / parameters_.energy);
}

SedovState SedovSolution::at(double radius, double time) const {
  assert(time > 0);
  const double shock = shock_radius(time);
  if (radius >= shock) {
    return {parameters_.density, 0, 0};
  }
  const double g = parameters_.gamma;
  const double speed = 2.0 / (parameters_.dim + 2) * shock / time;
  // The radius grows with v. The logarithm of the excess is bisected, because all of the core lies
  // next to the start.
  double low = -700;
  double high = 0;
  for (int step = 0; step < 80; ++step) {
    double middle = 0.5 * (low + high);
    (profile(span_ * std::exp(middle)).radius < radius / shock ? low : high) = middle;
  }
  const Profile p = profile(span_ * std::exp(high));
  return {parameters_.density * (g + 1) / (g - 1) * p.density, 2 * speed / (g + 1) * p.velocity,
          2 * parameters_.density * speed * speed / (g + 1) * p.pressure};
}

}  // namespace stria::flash
