# Sourced by build.sh: the signing key, signed packages, indexed and signed repositories.

KEY_OWNER='Tiny Linux Signing Key <tiny@example.invalid>'

# gpg works in a throw-away home under /tmp: its agent's socket needs a short path, and an agent that loses its home ends
# by itself, should this script ever be killed. What is kept is the secret key, in the cache, so that a rebuilt
# distribution is signed as before.
begin_signing() {
  local cache=$1 public_key=$2
  local secret_key=$cache/tiny-signing-key.secret.asc
  step "preparing the signing key"
  SIGNING_HOME=$(mktemp -d /tmp/tiny-gnupg.XXXXXX)
  export GNUPGHOME=$SIGNING_HOME
  (
    # Two builds that share a cache must agree on one key. The lock is not handed on: gpg's agent would keep it.
    flock 9
    { [[ -s $secret_key ]] || make_signing_key "$secret_key"; } 9>&-
  ) 9> "$cache/tiny-signing-key.lock"
  gpg --batch --quiet --import "$secret_key"
  gpg --batch --armor --export > "$public_key"
}

make_signing_key() {
  local secret_key=$1
  gpg --batch --quiet --pinentry-mode loopback --passphrase '' --quick-gen-key "$KEY_OWNER" rsa3072 sign never
  (umask 077 && gpg --batch --armor --export-secret-keys > "$secret_key.new")
  mv "$secret_key.new" "$secret_key"
}

end_signing() {
  [[ -n ${SIGNING_HOME-} ]] || return 0
  gpgconf --homedir "$SIGNING_HOME" --kill all
  rm -rf "$SIGNING_HOME"
}

sign_packages() {
  step "signing packages"
  # Its stdout is file names only. It wants a terminal for gpg or the word that there is none.
  find "$@" -name '*.rpm' -print0 | GPG_TTY=none xargs -0 rpmsign --load="$TINY/macros" --addsign > /dev/null
  # createrepo_c writes file times into the index.
  find "$@" -name '*.rpm' -exec touch --date="@$SOURCE_DATE_EPOCH" {} +
}

publish_repository() {
  local repository=$1
  step "indexing $(basename "$repository")"
  createrepo_c --quiet --no-database --revision "$SOURCE_DATE_EPOCH" --set-timestamp-to-revision "$repository" >&2
  gpg --batch --armor --detach-sign "$repository/repodata/repomd.xml"
  cp "$WORK/out/keys/tiny.asc" "$repository/repodata/repomd.xml.key"
}
