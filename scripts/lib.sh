# What the scripts share: one virtual environment in .venv, made and brought up to date by itself. Sourced, never run.
# Needs bash and Python 3.11 or newer; PYTHON names another interpreter than the first one found.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
venv=$root/.venv
constraints=constraints.txt # the versions that are installed; pip takes no blank in this path, so it is a relative one

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

# Changes whenever what is installed would: the project file, the versions, the interpreter, or a checkout that moved.
fingerprint() {
  "$1" - "$root" <<'PY'
import hashlib, pathlib, sys
root = pathlib.Path(sys.argv[1])
parts = [sys.argv[1], sys.version, *((root / name).read_text() for name in ("pyproject.toml", "constraints.txt", "src/sendbox/__init__.py"))]
print(hashlib.sha256("\0".join(parts).encode()).hexdigest())
PY
}

# Makes $venv anew, with nothing in it.
make_environment() {
  local python
  python=$(python_of_the_machine)
  "$python" -c 'import venv, ensurepip' 2>/dev/null || die "$python cannot make virtual environments: its ensurepip is missing (on Debian and Ubuntu: apt-get install python3-venv)"
  "$python" -m venv --clear "$venv" || die "$venv could not be made"
}

# install ARG…: installs into $venv in the versions of $constraints, and builds with those of constraints.txt. uv does
# in seconds what takes pip a minute; where uv cannot be had or cannot do it, pip does it and says what is wrong.
install() {
  local -x PIP_CONSTRAINT=$constraints PIP_BUILD_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1
  if "$venv/bin/python" -m pip install --quiet uv 2>/dev/null &&
    VIRTUAL_ENV=$venv "$venv/bin/uv" pip install --quiet --constraints "$constraints" --build-constraints constraints.txt "$@" 2>/dev/null; then
    return
  fi
  "$venv/bin/python" -m pip install --quiet "$@" >&2
}

# The environment is .venv-lowest, with the lowest versions that the ranges of pyproject.toml allow for what users
# install; what only the tests of Sendbox need comes in versions that go with these.
use_lowest_versions() {
  venv=$root/.venv-lowest
  constraints=.venv-lowest/lowest-versions.txt
  PYTHON=${PYTHON:-$(command -v python3.11 || true)} # old versions are built for old interpreters
}

lowest_versions() {
  "$venv/bin/python" - <<'PY'
import re, tomllib
with open("pyproject.toml", "rb") as file:
    project = tomllib.load(file)["project"]
extras = (project["optional-dependencies"][name] for name in ("people", "postgresql", "test", "tls"))
for requirement in (*project["dependencies"], *(each for extra in extras for each in extra)):
    bound = re.match(r"([A-Za-z0-9._-]+)>=([0-9.]+)", requirement)
    if bound:
        print(f"{bound[1]}=={bound[2]}")
PY
}

# ensure_environment EXTRA: $venv holds this checkout (editable) with that extra of pyproject.toml.
# `dev` includes all that serving needs, so an environment made for the tests also serves.
ensure_environment() {
  local extra=$1 mark wanted
  if [ -x "$venv/bin/python" ] && wanted=$(fingerprint "$venv/bin/python" 2>/dev/null); then
    for mark in "$extra" dev; do
      [ "$(cat "$venv/.installed-$mark" 2>/dev/null)" != "$wanted" ] || return 0
    done
  fi
  if [ ! -x "$venv/bin/python" ] || [ "$(cat "$venv/.root" 2>/dev/null)" != "$root" ]; then
    printf 'making %s\n' "${venv##*/}" >&2
    make_environment
    printf '%s\n' "$root" >"$venv/.root"
  fi
  [ "$constraints" = constraints.txt ] || lowest_versions >"$constraints"
  printf 'installing sendbox[%s] into %s\n' "$extra" "${venv##*/}" >&2
  install --editable ".[$extra]" ||
    die "pip could not install what pyproject.toml names in the versions of $constraints; its own words are above"
  fingerprint "$venv/bin/python" >"$venv/.installed-$extra"
}
