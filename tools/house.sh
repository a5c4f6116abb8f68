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

# step LABEL LOG COMMAND...: runs COMMAND, its output into LOG, and prints LABEL with the seconds
# it took. A person at a terminal sees the last line of the output meanwhile; a failure shows all.
step() {
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
  if [ "$code" -ne 0 ]; then
    cat "$log" >&2
    fail "$code" "$label failed after $((SECONDS - start)) s; all its output is above and in $log"
  fi
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
  local missing command as_root=()
  if ! command -v dpkg-query > /dev/null || ! command -v apt-get > /dev/null; then
    fail 2 "no Debian and no kin of it: install what these Debian packages bring, then build by" \
      "hand as HACKING.md says: $*"
  fi
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  say "missing packages: ${missing[*]}"
  command="apt-get install --no-remove ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo > /dev/null || fail 2 "no sudo here; as root, type: $command"
    allowed_to_install || fail 2 "nothing installed; give --yes, or type: sudo $command"
    sudo -v || fail 2 "sudo refused; as root, type: $command"
    as_root=(sudo)
  fi
  step "install packages" "$house_root/build/packages.log" install_packages "${missing[@]}"
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -eq 0 ] || fail 2 "still missing after apt-get: ${missing[*]}"
}

# Yes by option, or by the answer of a person at the terminal.
allowed_to_install() {
  local answer
  if $house_yes; then return 0; fi
  [ -t 0 ] && [ -t 2 ] || return 1
  read -r -p "install them through sudo? [Y/n] " answer
  [[ -z $answer || $answer == [yY]* ]]
}

# The package lists are fetched when there are none, and once more when an install fails: they may
# be too old to name what the archive holds now.
install_packages() {
  local install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive
    apt-get install --yes --no-remove --no-install-recommends "$@")
  local update=("${as_root[@]}" apt-get update)
  if ! compgen -G '/var/lib/apt/lists/*_Packages*' > /dev/null; then "${update[@]}" || return; fi
  "${install[@]}" || { "${update[@]}" && "${install[@]}"; }
}

# build PRESET: configures and builds it below build/PRESET.
build() {
  local preset=$1 folder="$house_root/build/$1"
  step "build $preset" "$folder.log" configure_and_build "$preset" "$folder"
}

configure_and_build() {
  (cd "$house_root" && cmake --preset "$1") && cmake --build "$2" --parallel "$(nproc)"
}
