/*
 * The files that make a machine different from all others of its image. config.sh removes them from the image, and the
 * first boot makes them again. A testdrive's owner is warned before one becomes a part of the appliance, and the agent
 * reports those that are still in a built root.
 */

export interface IdentityFiles {
  /** The name of one of these files in the sentence "All machines have the same …". */
  what: string;
  /** Absolute paths. A `*` stands for any part of a name. */
  paths: readonly string[];
  /** How the first boot makes them again. Without it, the service that uses them does so on its own. */
  remake?: Remake;
  /** The files are removed only if `remake` is possible: the service does not start without them. */
  isNeeded?: true;
  /** Text that a file contains if it identifies a machine. By default, every file that is not empty does. */
  text?: RegExp;
}

/** A command for the first boot, if the image contains the program and none of the files. */
interface Remake {
  program: string;
  /** A program of the distribution that makes the files itself. */
  unless?: string;
  /** Commands of a POSIX shell. */
  command: string;
  /** The services that wait for it. By default, all servers and the login do. */
  before?: readonly string[];
}

const machineId = /^[0-9a-f]{32}/;

export const identityFiles: readonly IdentityFiles[] = [
  { what: "machine-id", paths: ["/etc/machine-id", "/var/lib/dbus/machine-id"], text: machineId },
  {
    what: "SSH host key",
    paths: ["/etc/ssh/ssh_host_*key", "/etc/ssh/ssh_host_*key.pub"],
    // Debian's package makes keys only when it is installed. The services of SUSE and Fedora make missing ones.
    remake: {
      program: "/usr/sbin/sshd",
      unless: "/usr/libexec/openssh/sshd-keygen",
      command: "ssh-keygen -A",
      before: ["ssh.service", "sshd.service"],
    },
  },
  {
    what: "SSH host key",
    paths: ["/etc/dropbear/dropbear_*_host_key"],
    remake: {
      program: "/usr/sbin/dropbear",
      command:
        'mkdir -p /etc/dropbear; for type in rsa ecdsa ed25519; do dropbearkey -t "$type" -f "/etc/dropbear/dropbear_${type}_host_key"; done',
      before: ["dropbear.service"],
    },
  },
  {
    what: "random seed",
    paths: [
      "/var/lib/systemd/random-seed",
      "/var/lib/urandom/random-seed",
      "/var/lib/misc/random-seed",
      "/var/lib/random-seed",
      "/var/lib/seedrng/seed.*",
      "/efi/loader/random-seed",
      "/boot/loader/random-seed",
      "/boot/efi/loader/random-seed",
    ],
  },
  { what: "key of systemd's credentials", paths: ["/var/lib/systemd/credential.secret"] },
  {
    what: "DHCP identity",
    paths: [
      "/var/lib/dhcp/dhclient*",
      "/var/lib/dhclient/*",
      "/var/lib/dhcpcd/*",
      "/var/lib/dhcpcd5/*",
      "/etc/dhcpcd.duid",
      "/etc/dhcpcd.secret",
      "/var/lib/NetworkManager/secret_key",
      "/var/lib/NetworkManager/*.lease",
      "/var/lib/systemd/network/*",
      "/var/lib/wicked/*.xml",
    ],
  },
  {
    what: "certificate of the package ssl-cert",
    paths: ["/etc/ssl/private/ssl-cert-snakeoil.key", "/etc/ssl/certs/ssl-cert-snakeoil.pem"],
    remake: {
      program: "/usr/sbin/make-ssl-cert",
      command: "DEBIAN_FRONTEND=noninteractive make-ssl-cert generate-default-snakeoil --force-overwrite",
    },
    isNeeded: true,
  },
  {
    what: "key of the name server bind9",
    paths: ["/etc/bind/rndc.key"],
    remake: {
      program: "/usr/sbin/rndc-confgen",
      command: "rndc-confgen -a && chown bind:bind /etc/bind/rndc.key && chmod 640 /etc/bind/rndc.key",
    },
    isNeeded: true,
  },
  {
    what: "key of xrdp",
    paths: ["/etc/xrdp/rsakeys.ini"],
    remake: {
      program: "/usr/bin/xrdp-keygen",
      command: "(umask 077; xrdp-keygen xrdp auto) && chown xrdp /etc/xrdp/rsakeys.ini",
    },
    isNeeded: true,
  },
  {
    what: "name for iSCSI",
    paths: ["/etc/iscsi/initiatorname.iscsi"],
    remake: {
      program: "/usr/sbin/iscsi-iname",
      command: '(umask 077; echo "InitiatorName=$(iscsi-iname)" > /etc/iscsi/initiatorname.iscsi)',
    },
    isNeeded: true,
    text: /^InitiatorName=./m,
  },
  {
    what: "name for NVMe over a network",
    paths: ["/etc/nvme/hostnqn", "/etc/nvme/hostid"],
    remake: {
      program: "/usr/sbin/nvme",
      // `nvme gen-hostnqn` takes the firmware's UUID, which some virtual machines do not have.
      command:
        'read -r id < /proc/sys/kernel/random/uuid; echo "$id" > /etc/nvme/hostid; echo "nqn.2014-08.org.nvmexpress:uuid:$id" > /etc/nvme/hostnqn',
    },
    isNeeded: true,
  },
];

/** The commands that someone has typed, and what editors remember. */
export const shellHistory = /\/\.(?:[a-z]*_history|lesshst|viminfo)$/;

const patternOf = (path: string): string => path.replaceAll(".", String.raw`\.`).replaceAll("*", "[^/]*");

const withPattern = identityFiles.map((files) => ({
  files,
  pattern: new RegExp(`^(?:${files.paths.map(patternOf).join("|")})$`, "s"),
}));

/** The entry of the table for a path. Undefined if the file does not identify a machine. */
export const identityAt = (path: string): IdentityFiles | undefined =>
  withPattern.find(({ pattern }) => pattern.test(path))?.files;
