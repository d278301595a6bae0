/*
 * The files of an image that only its owner may read individually (decision 37). The Worker asks for files of built
 * images, the agent for files that a testdrive has changed.
 */

/** Suffixes of copies of `shadow`: its backups, and the files that package managers and editors leave next to it. */
const copies = String.raw`(?:[-~.].*)?`;

/** Regular expressions over the whole path, for rpm and Debian systems. `/**` at the end is everything below. */
const secretPaths: readonly string[] = [
  // Password hashes of the system.
  String.raw`/(?:usr/)?etc/\.?g?shadow${copies}`,
  String.raw`/(?:usr/)?etc/tcb/**`,
  "/etc/security/opasswd",
  String.raw`/var/backups/g?shadow${copies}`,
  // Host keys of OpenSSH and Dropbear.
  String.raw`.*/ssh_host_[^/]*key`,
  String.raw`.*/dropbear_[^/]*host_key`,
  // Keys of TLS, VPNs and Kerberos.
  String.raw`/etc/(?:ssl|pki)/(?:.*/)?private/**`,
  String.raw`/etc/(?:ssl|apache2|httpd|nginx|lighttpd|openvpn)/(?:.*/)?[^/]*\.key`,
  "/etc/apache2/ssl.key/**",
  String.raw`/etc/pki/nssdb/key[34]\.db`,
  String.raw`/etc/letsencrypt/(?:.*/)?privkey[^/]*\.pem`,
  "/etc/letsencrypt/accounts/**",
  "/etc/(?:ipsec.d|swanctl)/(?:private|rsa|ecdsa|pkcs8|pkcs12)/**",
  String.raw`/etc/ipsec\.secrets`,
  "/etc/wireguard/**",
  "/etc/cryptsetup-keys.d/**",
  String.raw`/etc/(?:.*/)?[^/]*\.keytab`,
  // Passwords of services and of networks.
  "/etc/NetworkManager/system-connections/**",
  "/etc/ppp/(?:chap|pap)-secrets",
  String.raw`/etc/wpa_supplicant/[^/]*\.conf`,
  "/etc/zypp/credentials.d/**",
  String.raw`/etc/apt/auth\.conf(?:\.d/.*)?`,
  "/etc/(?:bind/)?rndc.key",
  String.raw`/etc/mysql/debian\.cnf`,
  String.raw`/etc/(?:pam_|libnss-)?ldap\.secret`,
  String.raw`/etc/postfix/sasl_passwd(?:\..*)?`,
  "/etc/credstore(?:.encrypted)?/**",
  "/var/lib/systemd/credential.secret",
  "/(?:etc|var/lib)/samba/(?:private/.*|smbpasswd)",
  "/boot/grub2?/user.cfg",
  // The users of the appliance's databases, which are created at the first boot.
  "/usr/lib/kiln/databases/**",
  // In home directories, wherever they are.
  String.raw`.*/\.ssh/(?!(?:authorized_keys2?|known_hosts(?:\.old)?|config|rc|environment|[^/]*\.pub)$).*`,
  String.raw`.*/\.gnupg/(?:private-keys-v1\.d/.*|secring\.gpg)`,
  String.raw`.*/\.(?:pgpass|my\.cnf|mylogin\.cnf|netrc|git-credentials|htpasswd|vault-token)`,
  String.raw`.*/\.(?:aws/credentials|docker/config\.json|kube/config|config/gcloud/.*|local/share/keyrings/.*)`,
];

const isSecret = new RegExp(`^(?:${secretPaths.map((one) => one.replace(/\/\*\*$/, "/.+")).join("|")})$`, "s");

/**
 * Whether only the owner of the image may read the file at this path, which is absolute and has no `.`, `..` or double
 * slash.
 */
export const isSecretPath = (path: string): boolean => isSecret.test(path);
