# What scripts/serve and scripts/test share: one virtual environment in .venv, made and brought up to date by itself.
# Sourced, never run. Needs bash and Python 3.11 or newer; PYTHON names another interpreter than the first one found.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/.venv
cd "$root"

die() {
  printf '%s: %s\n' "$(basename "$0")" "$1" >&2
  exit 1
}

section() {
  printf '\n== %s\n' "$1"
}

python_of_the_machine() {
  local candidate
  for candidate in ${PYTHON:+"$PYTHON"} python3 python3.14 python3.13 python3.12 python3.11 python; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      printf '%s\n' "$candidate"
      return
    fi
    [ "$candidate" != "${PYTHON:-}" ] || die "$PYTHON is not a Python 3.11 or newer (PYTHON names it)"
  done
  die 'no Python 3.11 or newer was found; install one, or name it: PYTHON=/path/to/python3.11'
}

# Changes whenever what is installed would: the project file, the version, the interpreter, or a checkout that moved.
fingerprint() {
  "$1" - "$root" <<'PY'
import hashlib, pathlib, sys
root = pathlib.Path(sys.argv[1])
parts = [sys.argv[1], sys.version, *((root / name).read_text() for name in ("pyproject.toml", "src/sendbox/__init__.py"))]
print(hashlib.sha256("\0".join(parts).encode()).hexdigest())
PY
}

# ensure_environment EXTRA: .venv holds this checkout (editable) with that extra of pyproject.toml.
# `dev` includes all that `tls` has, so an environment made for the tests also serves.
ensure_environment() {
  local extra=$1 python mark wanted
  if [ -x "$venv/bin/python" ] && wanted=$(fingerprint "$venv/bin/python" 2>/dev/null); then
    for mark in "$extra" dev; do
      [ "$(cat "$venv/.installed-$mark" 2>/dev/null)" != "$wanted" ] || return 0
    done
  fi
  if [ ! -x "$venv/bin/python" ] || [ "$(cat "$venv/.root" 2>/dev/null)" != "$root" ]; then
    python=$(python_of_the_machine)
    "$python" -c 'import venv, ensurepip' 2>/dev/null || die "$python cannot make virtual environments: its ensurepip is missing (on Debian and Ubuntu: apt-get install python3-venv)"
    printf 'making .venv\n' >&2
    "$python" -m venv --clear "$venv" || die '.venv could not be made'
    printf '%s\n' "$root" >"$venv/.root"
  fi
  printf 'installing sendbox[%s] into .venv\n' "$extra" >&2
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --editable ".[$extra]" >&2 ||
    die 'pip could not install what pyproject.toml names; its own words are above'
  fingerprint "$venv/bin/python" >"$venv/.installed-$extra"
}
