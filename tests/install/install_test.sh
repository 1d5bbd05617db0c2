#!/usr/bin/env bash
# Installs a build into a fresh prefix, moves the prefix, and builds and runs the examples and the
# README's program against it, by find_package(stria) and by pkg-config.
# usage: install_test.sh BUILD_DIR C++_COMPILER MPIEXEC
set -Eeuo pipefail
trap 'echo "${BASH_SOURCE[0]}:$LINENO failed: $BASH_COMMAND" >&2' ERR

build=$1 cxx=$2 mpiexec=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d --tmpdir stria_install_test.XXXXXX)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first" >"$work/install.log"
# Moved, to see that nothing keeps the place where it was first installed.
mv "$work/first" "$work/prefix"
if grep -rIl -e "$work/first" -e "$build" -e /usr/local --exclude stria-serve.service "$work/prefix"; then
  echo "the files above name the build tree, the first prefix or that of the configuration" >&2
  exit 1
fi
# A unit of systemd has to name its program.
if [[ -e $build/bin/stria ]]; then
  grep -Fx "Documentation=file:$work/first/share/doc/stria/docs/servers.md" "$work/prefix/lib/systemd/system/stria-serve.service"
  grep -F "ExecStart=$work/first/bin/stria serve" "$work/prefix/lib/systemd/system/stria-serve.service"
fi

echo "== documents"
"$here/../../build/venv/bin/python" -B "$here/check_documents.py" "$work/prefix/share/doc/stria"

PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name stria.pc)")
export PKG_CONFIG_PATH
library_dir=$(pkg-config --variable=libdir stria)

# What an earlier run compiled is used again.
if ccache=$(command -v ccache); then
  launcher="$here/../../cmake/ccache.sh;$work;$ccache"
  export CMAKE_CXX_COMPILER_LAUNCHER=$launcher CMAKE_C_COMPILER_LAUNCHER=$launcher
fi

echo "== headers"
# Each public header compiles alone.
# shellcheck disable=SC2046
find "$work/prefix/include/stria" -name '*.hpp' -print0 |
  xargs -0 -n 1 -P 2 "$cxx" -std=c++20 -fsyntax-only $(pkg-config --cflags stria) -x c++

"$cxx" -x c -fsyntax-only "$work/prefix/include/stria.h"  # mpi.h is not asked for
# The C libraries export what the header declares, and nothing else.
declared() { grep -oE '\bstria_[a-z0-9_]+\(' "$work/prefix/include/stria.h" | tr -d '(' | sort -u; }
exported() { nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort; }
diff <(declared) <(exported "$library_dir/libstria_c.so")
diff <(declared | grep -v '_mpi$') <(exported "$library_dir/libstria_c_serial.so")

echo "== examples"
cmake -S "$here/../../examples" -B "$work/examples" -G Ninja -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$work/prefix"
cmake --build "$work/examples" -- -j 2
# The examples make the same files in every language, in Python with texts of any length.
same() { # LANGUAGE FILE FILE
  if [[ $1 == python ]]; then
    "$here/../../build/venv/bin/python" -B "$here/same_content.py" "${@:2}"
  else
    cmp "${@:2}"
  fi
}
names=(checkpoint amr_blocks particles time_series attributes distributed_array compressed)
check_language() { # LANGUAGE: its files, and what its programs said
  for step in 0 1 2; do
    mv "$work/async_$step.h5" "$work/async_${step}_$1.h5"
  done
  for name in "${names[@]}" async_0 async_1 async_2; do
    same "$1" "$work/${name}_c.h5" "$work/${name}_$1.h5"
  done
  grep "/air in K, step 7, time 0.5.*, closed, mode 1.*-2.*i" "$work/said_$1"
  grep "boxes of 2 x 1 ranks, read by rows: as written" "$work/said_$1"
}
for program in "$work"/examples/checkpoint_*; do
  language=${program##*_}
  for name in "${names[@]}"; do
    "$mpiexec" -n 2 "$work/examples/${name}_$language" "$work/${name}_$language.h5"
  done >"$work/said_$language"
  "$mpiexec" -n 2 "$work/examples/async_$language" "$work/async"
  check_language "$language"
  "$mpiexec" -n 3 "$work/examples/restart_$language" "$work/checkpoint_c.h5" | grep "40 blocks of time 0.25, as written"
  "$work/examples/one_process_$language" "$work/table_$language.h5" | grep "period 2.* height 3.* m"
  cmp "$work/table_c.h5" "$work/table_$language.h5"
done
python=$here/../../build/venv/bin/python
"$python" -B "$here/check_examples.py" "$work" 2
run_python() { # RANKS SCRIPT ARGUMENT...: with the package of the build; wheel_test.sh installs it
  PYTHONPATH=$build/python MPI4PY_MPIABI=${mpiexec##*.} LD_LIBRARY_PATH=$build/python/${mpiexec##*.} \
    "$mpiexec" -n "$1" "$python" -B "${@:2}"
}
if [[ -d $build/python/stria ]]; then
  files=()
  for name in "${names[@]}"; do
    files+=("$name=$work/${name}_python.h5")
  done
  run_python 2 "$here/run_examples.py" "${files[@]}" "async=$work/async" >"$work/said_python"
  check_language python
fi
for run in 1 2; do  # the second goes on
  "$mpiexec" -n 2 "$work/examples/probe_cpp" "$work/probe.h5"
  h5dump -H "$work/probe.h5" | grep "$((5 * run)), 200 ) / ( H5S_UNLIMITED, 200"
done
if [[ -e $work/examples/checkpoint_fortran ]]; then
  # shellcheck disable=SC2046
  "${mpiexec/mpiexec/mpifort}" "$here/../../examples/fortran/checkpoint.f90" -o "$work/checkpoint_f" $(pkg-config --cflags --libs stria_fortran) \
    "-Wl,-rpath,$library_dir"
  "$mpiexec" -n 2 "$work/checkpoint_f" "$work/checkpoint_f.h5"
  cmp "$work/checkpoint_c.h5" "$work/checkpoint_f.h5"
  # The module's source, for other compilers.
  "${mpiexec/mpiexec/mpifort}" -cpp -fsyntax-only -J "$work" "$work/prefix/share/stria/fortran/stria.f90"
fi
# The same by pkg-config; and without MPI nothing of it is loaded.
# shellcheck disable=SC2046
cc "$here/../../examples/c/one_process.c" -o "$work/one_process" $(pkg-config --cflags --libs stria_c_serial) \
  "-Wl,-rpath,$library_dir"
"$work/one_process" "$work/table_c1.h5"
ldd "$work/one_process" | grep libmpi && exit 1
# shellcheck disable=SC2046
cc "$here/../../examples/c/checkpoint.c" -o "$work/checkpoint_c" $(pkg-config --cflags --libs stria_c) "-Wl,-rpath,$library_dir"
"$mpiexec" -n 1 "$work/checkpoint_c" "$work/checkpoint_c1.h5"

stria=$work/prefix/bin/stria flash=$work/flash
echo "== the laboratory, there and away"
parts=$work/prefix/libexec/stria
if [[ -e $parts/laboratory/stria ]]; then
  "$mpiexec" -n 2 "$stria" bench block3d --cells 16 --rounds 1 --dir "$work" | grep "block3d through library: 2 ranks"
  "$stria" simulate --help | grep "Usage: stria simulate"
  "$stria" --help | grep "^  convection "
  mkdir "$work/laboratory"
  mv "$parts"/laboratory* "$work/laboratory"
fi
for words in "bench block3d" "convection" "papers list" "simulate"; do
  # shellcheck disable=SC2086
  if "$stria" $words 2>"$work/said"; then exit 1; fi
  grep "'stria ${words%% *}' needs the laboratory, which is not installed" "$work/said"
done
"$stria" --help >"$work/said"
grep "need the laboratory, which" "$work/said"
if grep -E "^  (bench|papers|flash) |stria flash" "$work/said"; then exit 1; fi
"$mpiexec" -n 2 "$stria" verify "$work/checkpoint_c.h5"
if [[ -d $work/laboratory ]]; then
  mv "$work/laboratory"/* "$parts"
  echo "== a FLASH checkpoint once more"
  mkdir "$flash"
  if "$stria" flash --help | grep -q sedov; then  # Debian's p4est needs Open MPI
    "$mpiexec" -n 2 "$stria" flash sedov --dim 2 --nxb 8 --max-level 3 --steps 1 --checkpoint-every 1 --out "$flash"
  else
    "$mpiexec" -n 2 "$stria" flash io --nxb 8 --nvar 5 --blocks 5 --rounds 1 --dir "$flash" --keep
  fi
  checkpoint=$(find "$flash" -name '*hdf5_chk_*' | sort | head -n 1)
  if [[ -e $work/examples/flash_checkpoint_fortran ]]; then
    "$mpiexec" -n 3 "$work/examples/flash_checkpoint_fortran" "$checkpoint" "$flash/by_fortran"
    cmp "$checkpoint" "$flash/by_fortran"
  fi
  if [[ -d $build/python/stria ]]; then
    run_python 3 "$here/../../examples/python/flash_checkpoint.py" "$checkpoint" "$flash/by_python"
    cmp "$checkpoint" "$flash/by_python"
  fi
fi

echo "== the command without MPI"
if ldd "$stria" | grep libmpi; then exit 1; fi
mv "$work/prefix/libexec" "$work/hidden"
"$stria" inspect "$work/checkpoint_c.h5" | grep dens
"$stria" verify "$work/checkpoint_c.h5"
if "$stria" bench block3d 2>"$work/said"; then exit 1; fi
grep "'stria bench' needs MPI: install" "$work/said"
if "$mpiexec" -n 2 "$stria" verify "$work/checkpoint_c.h5" 2>"$work/said"; then exit 1; fi
grep "'stria verify' on ranks of MPI needs" "$work/said"
"$stria" --help | grep "flash, convection, bench and tune need MPI"
mv "$work/hidden" "$work/prefix/libexec"

echo "== what EasyBuild looks for"
python3 - "$here/../../packaging/easybuild/Stria-0.1.0-gompi-2025b.eb" "$work/prefix" "$library_dir" <<'END'
import pathlib
import sys

recipe = {}
exec(pathlib.Path(sys.argv[1]).read_text(), recipe)
prefix, libraries = map(pathlib.Path, sys.argv[2:])
has_laboratory = (prefix / "libexec/stria/laboratory").exists()
has_fortran = (libraries / "pkgconfig/stria_fortran_serial.pc").exists()
for path in recipe["sanity_check_paths"]["files"] + recipe["sanity_check_paths"]["dirs"]:
    if ("laboratory" in path and not has_laboratory) or ("fortran" in path and not has_fortran):
        continue
    # It has another name for the folder of libraries, and Open MPI.
    folder, within = (libraries, path[4:]) if path.startswith("lib/") else (prefix, path)
    found = list(folder.glob(within.replace("_openmpi", "_*").replace("/openmpi/", "/*/")))
    assert found, f"{path} is not installed"
END

echo "== programs"
shopt -s nullglob
for program in "$work"/prefix/bin/*; do
  "$program" --version || { echo "$program does not start from its new place" >&2 && exit 1; }
done

echo "== the README's program, as printed, built in both ways as printed"
readme=$here/../../README.md
# block LANGUAGE PATTERN: the README's block of that language that has the pattern.
block() {
  awk -v open="\`\`\`$1" -v pattern="$2" '
    $0 == open { text = ""; inside = 1; next }
    /^```$/ { if (inside && text ~ pattern) printf "%s", text; inside = 0 }
    inside { text = text $0 "\n" }' "$readme"
}
check_blast() { # DIRECTORY: the file that blast wrote there
  "$work/prefix/bin/stria" verify "$1/blast_hdf5_chk_0000"
  "$work/prefix/bin/stria" inspect "$1/blast_hdf5_chk_0000" | tee "$work/inspected"
  [[ $(grep -cE '^ +var[0-9] .*160 x 8 x 8 x 8' "$work/inspected") == 10 ]]
}
mkdir "$work/blast"
block cpp main >"$work/blast/blast.cpp"
block cmake find_package >"$work/blast/CMakeLists.txt"
block sh pkg-config | sed "s|^c++|$cxx|; /^export/d" >"$work/blast/build.sh"
[[ -s $work/blast/blast.cpp && -s $work/blast/CMakeLists.txt && -s $work/blast/build.sh ]]
cmake -S "$work/blast" -B "$work/blast/cmake" -G Ninja -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$work/prefix"
cmake --build "$work/blast/cmake"
(cd "$work/blast/cmake" && "$mpiexec" -n 2 ./blast)
check_blast "$work/blast/cmake"
(cd "$work/blast" && bash -eu build.sh && "$mpiexec" -n 2 ./blast)
check_blast "$work/blast"

echo "== the libraries to preload, under a program that knows nothing of Stria"
# shellcheck disable=SC2046
"$cxx" -std=c++20 "$here/consumer/plain_mpiio.cpp" -o "$work/plain" \
  $(pkg-config --cflags --libs "$(sed -n 's/^Requires: *//p' "$PKG_CONFIG_PATH/stria.pc")")
drop_in=("$library_dir"/libstria_mpiio_*.so)
trace=("$library_dir"/libstria_trace_*.so)
[[ ${#drop_in[@]} == 1 && ${#trace[@]} == 1 ]]
for library in "${drop_in[0]}" "${trace[0]}"; do  # nothing is missing that only a rare call needs
  LD_BIND_NOW=1 LD_PRELOAD=$library /bin/true
done
LD_BIND_NOW=1 LD_PRELOAD=$library_dir/libstria_hdf5.so /bin/true
if [[ -e $build/lib/hdf5_plugins/libhdf5_vol_stria.so ]]; then
  LD_BIND_NOW=1 LD_PRELOAD=$library_dir/stria/hdf5_plugins/libhdf5_vol_stria.so /bin/true
fi
"$mpiexec" -n 2 env LD_PRELOAD="${drop_in[0]}" STRIA_VERBOSE=1 "$work/plain" "$work/plain.data" 2>&1 | tee "$work/said"
grep -q '^stria' "$work/said"
"$mpiexec" -n 2 env LD_PRELOAD="${trace[0]}" STRIA_TRACE=full STRIA_TRACE_DIR="$work/traces" "$work/plain" "$work/plain.data"
"$work/prefix/bin/stria" trace stats "$work"/traces/*.stria-trace | grep -c MPI_File_write_at_all
