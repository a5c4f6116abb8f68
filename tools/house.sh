# SPDX-License-Identifier: MIT
# What `run` and `check` share: messages, steps with their seconds, packages, builds.
# Sourced by bash after `set -euo pipefail`; works without a terminal, a locale, sudo or a network.

export LC_ALL=C.UTF-8
house_root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
house_yes=false   # --yes: install what is missing without asking

say() { printf '%s\n' "$*" >&2; }

# fail CODE WORDS...: one clear line, and out.
fail() {
  local code=$1
  shift
  say "${0##*/}: $*"
  exit "$code"
}

# step LABEL LOG COMMAND...: an attempt that must succeed; a failure shows all of its output.
step() {
  local start=$SECONDS code=0
  attempt "$@" || code=$?
  [ "$code" -ne 0 ] || return 0
  cat "$2" >&2
  fail "$code" "$1 failed after $((SECONDS - start)) s; all its output is above and in $2"
}

# attempt LABEL LOG COMMAND...: runs COMMAND, its output into LOG, and prints LABEL with the seconds
# it took. A person at a terminal sees the last line of the output meanwhile.
attempt() {
  local label=$1 log=$2 start=$SECONDS painter= code=0
  shift 2
  mkdir -p "$(dirname "$log")"
  : > "$log"
  if [ -t 2 ]; then
    paint "$label" "$log" &
    painter=$!
  fi
  "$@" > "$log" 2>&1 < /dev/null || code=$?
  if [ -n "$painter" ]; then
    kill "$painter" 2> /dev/null || true
    wait "$painter" 2> /dev/null || true
    printf '\r\033[K' >&2
  fi
  [ "$code" -eq 0 ] || return "$code"
  say "$label: $((SECONDS - start)) s"
}

# The moving line of a step. It ends by itself when the script that started it is gone.
paint() {
  local label=$1 log=$2 width line
  width=$(tput cols 2> /dev/null || echo 80)
  while kill -0 $$ 2> /dev/null; do
    line="$label: $(tail -n 1 "$log" 2> /dev/null | tr -d '\r\033')"
    printf '\r\033[K%s' "${line:0:width-1}" >&2
    sleep 0.5
  done
}

# missing_packages NAME...: those of them that are not installed, one a line.
missing_packages() {
  local present name
  present=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2> /dev/null || true)
  for name in "$@"; do
    grep -qxF "installed $name" <<< "$present" || printf '%s\n' "$name"
  done
}

# need_packages NAME...: prints and installs what is missing; nothing is ever removed for it.
need_packages() {
  local missing command as_root refusal apt_options=()
  if ! command -v dpkg-query > /dev/null || ! command -v apt-get > /dev/null; then
    fail 2 "no Debian and no kin of it: install what these Debian packages bring, then build by" \
      "hand as HACKING.md says: $*"
  fi
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  say "missing packages: ${missing[*]}"
  command="apt-get install --no-remove ${missing[*]}"
  may_install needed || fail 2 "$refusal"
  step "install packages" "$house_root/build/packages.log" install_packages "${missing[@]}"
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -eq 0 ] || fail 2 "still missing after apt-get: ${missing[*]}"
}

# offer_packages NAME...: installs what is missing if it may, and goes on without it if it may not.
# A person who says no is asked again only when something else is missing.
offer_packages() {
  local missing command as_root refusal said_no=false log="$house_root/build/peers.log"
  local declined="$house_root/build/peers.declined"
  local apt_options=(-o Acquire::Retries=0 -o Acquire::http::Timeout=10)
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  if ! $house_yes && [ "$(cat "$declined" 2> /dev/null)" = "${missing[*]}" ]; then return 0; fi
  say "other libraries to compare with: ${missing[*]} ($(size_of "${missing[@]}"))"
  command="apt-get install --no-remove ${missing[*]}"
  if ! may_install optional; then
    say "going on without them: $refusal"
    if $said_no; then mkdir -p "$house_root/build" && printf '%s' "${missing[*]}" > "$declined"; fi
  elif ! attempt "install other libraries" "$log" install_packages "${missing[@]}"; then
    say "going on without them: apt-get failed, its output is in $log"
  fi
}

# size_of NAME...: what apt-get would fetch and write for them.
size_of() {
  local sizes
  sizes=$(apt-get install --print-uris --no-install-recommends "$@" 2> /dev/null < /dev/null |
    sed -n 's/^Need to get \(.*\) of archives.*/\1 to fetch, /p
      s/^After this operation, \(.*\) of additional disk space.*/\1 on disk/p' | tr -d '\n') || true
  printf '%s' "${sizes:-size unknown}"
}

# may_install needed|optional: whether packages may be installed, by root or through sudo. It asks
# first; root only about what is optional. Sets as_root, or `refusal`: why not, and what to type.
may_install() {
  local by=
  as_root=()
  [ "$(id -u)" -eq 0 ] || by="sudo "
  if [ -n "$by" ] && ! command -v sudo > /dev/null; then
    refusal="no sudo here; as root, type: $command"
    return 1
  fi
  if [[ -n $by || $1 = optional ]] && ! allowed_to_install "${by:+ through sudo}"; then
    refusal="nothing installed; give --yes, or type: $by$command"
    return 1
  fi
  [ -n "$by" ] || return 0
  as_root=(sudo)
  sudo -v && return
  refusal="sudo refused; as root, type: $command"
  return 1
}

# allowed_to_install HOW: yes by option, or by the answer of a person at the terminal. A person's no
# sets said_no.
allowed_to_install() {
  local answer
  if $house_yes; then return 0; fi
  [ -t 0 ] && [ -t 2 ] || return 1
  read -r -p "install them$1? [Y/n] " answer || answer=no
  [[ -n $answer && $answer != [yY]* ]] || return 0
  said_no=true
  return 1
}

# The package lists are fetched when there are none, and once more when an install fails: they may
# be too old to name what the archive holds now.
install_packages() {
  local install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive
    apt-get install "${apt_options[@]}" --yes --no-remove --no-install-recommends "$@")
  local update=("${as_root[@]}" apt-get update "${apt_options[@]}")
  if ! compgen -G '/var/lib/apt/lists/*_Packages*' > /dev/null; then "${update[@]}" || return; fi
  "${install[@]}" || { "${update[@]}" && "${install[@]}"; }
}

# build PRESET OPTION...: configures it, with these options of cmake, and builds it below
# build/PRESET: all of it, or build_targets.
build_targets=()
build() {
  local preset=$1 folder="$house_root/build/$1" what=
  case ${#build_targets[@]} in
    0) ;;
    1) what=" ${build_targets[0]}" ;;
    *) what=" ${#build_targets[@]} targets" ;;
  esac
  step "build $preset$what" "$folder.log" configure_and_build "$folder" --preset "$@"
}

# build_program ARGUMENT...: the program `handoff`, and then what it starts with these arguments.
build_program() {
  local targets
  build_targets=(handoff_program)
  build release
  if [[ " $* " = *" --help "* ]]; then return; fi
  targets=$("$house_root/build/release/handoff" "$@" --targets) || exit
  [ -n "$targets" ] || return 0
  mapfile -t build_targets <<< "$targets"
  build release
}

configure_and_build() {
  local folder=$1
  (cd "$house_root" && cmake "${@:2}") && cmake --build "$folder" --parallel "$(nproc)" \
    ${build_targets[@]+--target "${build_targets[@]}"}
}
