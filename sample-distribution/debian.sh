# Sourced by build.sh: the Debian packages that Tiny Linux is made of.
# Which ones: debian-packages.txt. Which version: the one apt would install here. Where: a cache that outlives builds.
# The first argument of a function is the architecture as dpkg calls it.

# Debian names its kernel package after the kernel's own version; these always depend on the current.
declare -A KERNEL_METAPACKAGE=([amd64]=linux-image-cloud-amd64 [i386]=linux-image-686)

debian_package_table() {
  awk -v wanted="$1" '!/^#/ && "," $2 "," ~ "," wanted "," {$2 = ""; $0 = $0; $1 = $1; print}' "$TINY/debian-packages.txt"
}
debian_package_names() { debian_package_table "$1" | awk '{print $1}'; }

# "NAME RPM-NAME [PROVIDES]" of those packages that become an rpm as they are. No blank at the end: to xargs that would
# mean "goes on in the next line".
repackaged_debian_packages() { debian_package_table "$1" | awk '$2 != "-" {$1 = $1; print}'; }

# apt for that architecture: "apt_for i386 get update". What it keeps of another one than the machine's is in the cache,
# and the machine's own apt hears nothing of it.
apt_for() {
  local architecture=$1 tool=apt-$2 place=$CACHE/apt-$1
  shift 2
  if [[ $architecture == amd64 ]]; then "$tool" "$@"; return; fi
  "$tool" -o "APT::Architecture=$architecture" -o "APT::Architectures::=$architecture" \
    -o "Dir::State=$place" -o "Dir::State::status=$place/status" -o "Dir::State::lists=$place/lists" \
    -o "Dir::Cache=$place" -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$place/sources" \
    -o Acquire::Languages=none -o "APT::Sandbox::User=$(id -un)" "$@"
}

# The machine's sources, but Debian's alone: other publishers need not have that architecture.
make_apt_place() {
  local place=$CACHE/apt-$1 file
  mkdir -p "$place"/{lists/partial,archives/partial}
  rm -rf "$place/sources"
  mkdir "$place/sources"
  : > "$place/status"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    case $file in
      *.list | *.sources) ! grep -qsE '[/]debian(-security)?[/]?([[:space:]]|$)' "$file" || cp "$file" "$place/sources/" ;;
    esac
  done
}

# "NAME VERSION" of each; "(none)" where apt knows no version. Reads only apt's lists on disk.
debian_versions() {
  # shellcheck disable=SC2046
  apt_for "$1" cache policy $(debian_package_names "$1") |
    awk '/^[^ ]/ {name = substr($1, 1, length($1) - 1)} /^  Candidate:/ {print name, $2}'
}

unknown_debian_packages() {
  debian_versions "$1" | awk '$2 != "(none)" {print $1}' | sort |
    comm -13 - <(debian_package_names "$1" | sort)
}

# Lists of the machine's own architecture are brought up to date when they lack something; others are ours, and always.
make_sure_of_apt_lists() {
  local architecture=$1 unknown
  if [[ $architecture == amd64 ]]; then
    if [[ -z $(unknown_debian_packages amd64) ]]; then return; fi
    [[ $(id -u) == 0 ]] || die "apt knows no version of: $(unknown_debian_packages amd64 | xargs). Run 'apt-get update' as root."
  else
    make_apt_place "$architecture"
  fi
  step "updating apt's package lists ($architecture)"
  # One list of several may fail; what counts is whether all packages are known then.
  apt_for "$architecture" get update --quiet >&2 || true
  unknown=$(unknown_debian_packages "$architecture" | xargs)
  [[ -z $unknown ]] || die "apt knows no version for $architecture of: $unknown"
}

current_kernel_package() {
  apt_for "$1" cache depends "${KERNEL_METAPACKAGE[$1]}" | awk '/Depends:/ {print $2; exit}'
}

cached_debian_package() {
  local architecture=$1 name=$2 version=$3 file
  for file in "$CACHE/debian/${name}_${version//:/%3a}_"{"$architecture",all}.deb; do
    if [[ -f $file ]]; then echo "$file"; return; fi
  done
}

# Into a directory of its own first: a download cut short must not be taken for a package by the next build.
download_debian_packages() {
  local architecture=$1 partial
  shift
  partial=$(mktemp -d "$CACHE/debian/partial.XXXXXX")
  # apt drops root for downloads, but then cannot write into a directory that only root may enter.
  (cd "$partial" && apt_for "$architecture" get download --quiet -o APT::Sandbox::User="$(id -un)" "$@" >&2) || {
    rm -rf "$partial"
    die "downloading from Debian failed"
  }
  mv "$partial"/*.deb "$CACHE/debian/"
  rmdir "$partial"
}

# Leaves NAME.deb in $WORK/debian/ARCHITECTURE for each package, so that specs need not know versions.
fetch_debian_packages() {
  local architecture=$1 links=$WORK/debian/$1 kernel name version missing=()
  mkdir -p "$CACHE/debian" "$links"
  make_sure_of_apt_lists "$architecture"
  kernel=$(current_kernel_package "$architecture")
  debian_versions "$architecture" | sed "s/^${KERNEL_METAPACKAGE[$architecture]} /$kernel /" > "$links.versions"

  while read -r name version; do
    [[ -n $(cached_debian_package "$architecture" "$name" "$version") ]] || missing+=("$name=$version")
  done < "$links.versions"
  step "fetching ${#missing[@]} Debian packages ($architecture)"
  if ((${#missing[@]})); then download_debian_packages "$architecture" "${missing[@]}"; fi

  while read -r name version; do
    ln -s "$(cached_debian_package "$architecture" "$name" "$version")" "$links/$name.deb"
  done < "$links.versions"
  mv "$links/$kernel.deb" "$links/kernel.deb"
}
