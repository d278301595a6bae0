# Sourced by build.sh: the Debian packages that Tiny Linux is made of.
# Which ones: debian-packages.txt. Which version: the one apt would install here. Where: a cache that outlives builds.

# Debian names its kernel package after the kernel's own version; this one always depends on the current.
KERNEL_METAPACKAGE=linux-image-cloud-amd64

debian_package_table() { grep -v '^#' "$TINY/debian-packages.txt"; }
debian_package_names() { debian_package_table | awk '{print $1}'; }

# "NAME RPM-NAME [PROVIDES]" of those packages that become an rpm as they are. No blank at the end: to xargs that would
# mean "goes on in the next line".
repackaged_debian_packages() { debian_package_table | awk '$2 != "-" {$1 = $1; print}'; }

# "NAME VERSION" of each; "(none)" where apt knows no version. Reads only apt's lists on disk.
debian_versions() {
  # shellcheck disable=SC2046
  apt-cache policy $(debian_package_names) |
    awk '/^[^ ]/ {name = substr($1, 1, length($1) - 1)} /^  Candidate:/ {print name, $2}'
}

unknown_debian_packages() {
  debian_versions | awk '$2 != "(none)" {print $1}' | sort |
    comm -13 - <(debian_package_names | sort)
}

make_sure_of_apt_lists() {
  local unknown
  if [[ -z $(unknown_debian_packages) ]]; then return; fi
  [[ $(id -u) == 0 ]] || die "apt knows no version of: $(unknown_debian_packages | xargs). Run 'apt-get update' as root."
  step "updating apt's package lists"
  apt-get update --quiet >&2
  unknown=$(unknown_debian_packages | xargs)
  [[ -z $unknown ]] || die "apt knows no version of: $unknown"
}

current_kernel_package() { apt-cache depends "$KERNEL_METAPACKAGE" | awk '/Depends:/ {print $2; exit}'; }

cached_debian_package() {
  local cache=$1 name=$2 version=$3
  find "$cache" -maxdepth 1 -name "${name}_${version//:/%3a}_*.deb" | head -n 1
}

# Into a directory of its own first: a download cut short must not be taken for a package by the next build.
download_debian_packages() {
  local cache=$1 partial
  shift
  partial=$(mktemp -d "$cache/partial.XXXXXX")
  # apt drops root for downloads, but then cannot write into a directory that only root may enter.
  (cd "$partial" && apt-get download --quiet -o APT::Sandbox::User="$(id -un)" "$@" >&2) || {
    rm -rf "$partial"
    die "downloading from Debian failed"
  }
  mv "$partial"/*.deb "$cache/"
  rmdir "$partial"
}

# Leaves NAME.deb in $2 for each package, so that specs need not know versions.
fetch_debian_packages() {
  local cache=$1 links=$2 kernel name version missing=()
  mkdir -p "$cache" "$links"
  make_sure_of_apt_lists
  kernel=$(current_kernel_package)
  debian_versions | sed "s/^$KERNEL_METAPACKAGE /$kernel /" > "$WORK/debian-versions"

  while read -r name version; do
    [[ -n $(cached_debian_package "$cache" "$name" "$version") ]] || missing+=("$name=$version")
  done < "$WORK/debian-versions"
  step "fetching ${#missing[@]} Debian packages"
  if ((${#missing[@]})); then download_debian_packages "$cache" "${missing[@]}"; fi

  while read -r name version; do
    ln -s "$(cached_debian_package "$cache" "$name" "$version")" "$links/$name.deb"
  done < "$WORK/debian-versions"
  mv "$links/$kernel.deb" "$links/kernel.deb"
}
