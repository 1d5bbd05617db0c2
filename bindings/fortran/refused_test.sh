#!/usr/bin/env bash
# What has no memory that lasts, or none to write to, a compiler refuses.
# usage: refused_test.sh COMPILER FOLDER_OF_THE_MODULE
set -euo pipefail

work=$(mktemp -d --tmpdir stria_refused_test.XXXXXX)
trap 'rm -rf "$work"' EXIT

# program STATEMENT
program() {
  cat <<END
subroutine one(d, a, constant)
  use stria
  type(stria_dataset) :: d
  real(8) :: a(10)
  real(8), intent(in) :: constant(10)
  integer :: places(3) = [3, 1, 2]
  $1
end subroutine
END
}

# compiles STATEMENT
compiles() {
  program "$1" >"$work/one.f90"
  "$compiler" -std=f2018 -fsyntax-only -I "$modules" -J "$work" "$work/one.f90" >"$work/out" 2>&1
}

compiler=$1 modules=$2
for statement in 'call d%put([1], a)' 'call d%put([1], constant)' 'call d%put([1], 2*a)' 'call d%get([1], a(10:1:-1))' \
  'call d%put_copy([1], a(places))'; do
  if ! compiles "$statement"; then
    cat "$work/out"
    echo "not compiled: $statement" >&2
    exit 1
  fi
done
for call in get read; do
  for array in '2*a' '(a)' '1d0' '[1d0, 2d0]' 'reshape(a, [2, 5])' 'a(places)' 'constant'; do
    if compiles "call d%$call([1], $array)"; then
      echo "compiled: call d%$call([1], $array)" >&2
      exit 1
    fi
  done
done
if compiles 'call d%put([1], a(places))'; then
  echo "compiled: call d%put([1], a(places))" >&2
  exit 1
fi
