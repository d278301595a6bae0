/**
 * Files of a machine's identity, which the build removes and the first boot creates. config.sh and the boot program run
 * on this host.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { identityFiles } from "#lib/contract/index";
import { plain } from "../kiwi/support/facts.ts";
import { unpackPackages } from "./debian-packages.ts";
import { imagesIn } from "./image-root.ts";

const dir = mkdtempSync(join(tmpdir(), "kiln-image-identity-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Programs that make keys and names, unpacked from their packages without running the packages' scripts. */
const makers =
  "openssh-client openssh-server libssl3 ssl-cert xrdp open-iscsi nvme-cli libnvme1 bind9-utils bind9-libs libfstrm0 " +
  "libjemalloc2 libjson-c5 liblmdb0 libmaxminddb0 libnghttp2-14 libprotobuf-c1 libuv1";
const packages = join(dir, "packages");
beforeAll(() => unpackPackages(makers.split(" "), packages), 600_000);

const inImage = imagesIn(dir, packages);

/** Omits the server's settings, which do not matter here. */
const cleared = "rm -rf /etc/ssh/*";
/** The files that packages leave in a root. */
const installed = `
  ${cleared}
  mkdir -p /etc/ssh /etc/dropbear /var/lib/systemd /var/lib/dbus /var/lib/NetworkManager
  for name in rsa ecdsa ed25519; do echo key > /etc/ssh/ssh_host_\${name}_key; echo pub > /etc/ssh/ssh_host_\${name}_key.pub; done
  echo key > /etc/dropbear/dropbear_rsa_host_key
  echo Port 22 > /etc/ssh/sshd_config
  echo 0123456789abcdef0123456789abcdef | tee /etc/machine-id > /var/lib/dbus/machine-id
  echo seed > /var/lib/systemd/random-seed
  echo key > /var/lib/NetworkManager/secret_key
`;
const withoutSystemd = "rm /usr/lib/systemd/systemd";
const listed = String.raw`find /etc/ssh /etc/dropbear /etc/machine-id /var/lib/systemd /var/lib/dbus /var/lib/NetworkManager -type f \
  -printf '%p %s\n' 2> /dev/null | sort || true`;
const filesIn = (output: string) => output.trim().split("\n");

describe("an image", () => {
  it("has no host keys, an empty machine-id and no seed", () => {
    expect(filesIn(inImage({}, listed, installed))).toEqual(["/etc/machine-id 0", "/etc/ssh/sshd_config 8"]);
  });

  it("has no machine-id if its init is not systemd", () => {
    expect(filesIn(inImage({}, listed, `${installed}${withoutSystemd}`))).toEqual(["/etc/ssh/sshd_config 8"]);
  });

  it.each([
    ["missing", "true", ""],
    ["uninitialized", "echo uninitialized > /etc/machine-id", "uninitialized\n"],
  ])("leaves a machine-id that is %s", (_what, before, text) => {
    expect(inImage({}, "cat /etc/machine-id 2> /dev/null || true", before)).toBe(text);
  });

  it("has no keys that its build script made", () => {
    const script = "mkdir -p /etc/ssh; ssh-keygen -A > /dev/null; ls /etc/ssh > /etc/seen; echo ab > /etc/machine-id";
    const scripts = { ...plain.scripts, build: { enabled: true, script } };
    const output = inImage({ scripts }, `grep -c host /etc/seen; ${listed}`, cleared);
    const [made, ...left] = filesIn(output);
    expect(Number(made)).toBeGreaterThan(3);
    expect(left).toEqual(["/etc/machine-id 0"]);
  });

  it("has the owner's files in their place", () => {
    const file = { owner: "root", group: "root", size: 4, sha256: "0".repeat(64), mode: 0o600 };
    const overlay = ["/etc/ssh/ssh_host_rsa_key", "/etc/machine-id"].map((path) => ({
      ...file,
      path,
      blobId: "11111111-2222-4333-8444-555555555555",
    }));
    // The agent puts the contents of overlay files next to the description.
    const contents = `for at in ${dir}/image-*/root/image/kiln; do mkdir -p $at/contents; echo mine > $at/contents/${overlay[0]?.blobId}; done`;
    const output = inImage({ overlay }, listed, `${installed}\n${contents}`);
    expect(filesIn(output)).toEqual(["/etc/machine-id 5", "/etc/ssh/ssh_host_rsa_key 5", "/etc/ssh/sshd_config 8"]);
  });
});

/** Files that the packages' scripts made, and that the services need. */
const remade = identityFiles.filter(({ isNeeded }) => isNeeded);
/** The accounts of those packages, and the input of the certificate. */
const accounts = `
  printf 'bind:x:53:53::/:/bin/false\\nxrdp:x:54:54::/:/bin/false\\n' >> /etc/passwd
  printf 'bind:x:53:\\nxrdp:x:54:\\nssl-cert:x:55:\\n' >> /etc/group
  mkdir -p /var/cache/debconf /etc/xrdp /etc/ssl/private /etc/ssl/certs
`;

describe("the first boot", () => {
  const withoutServer = "rm /usr/sbin/sshd";
  const keys = "ls /etc/ssh | grep '^ssh_host_.*key$'; sha256sum /etc/ssh/ssh_host_*_key > /etc/sums";
  const identity = "/usr/lib/kiln/boot machine-identity";
  const boot = `{ /usr/lib/kiln/boot host-keys && ${identity}; } > /dev/null 2>&1`;

  it("makes host keys once, which differ from machine to machine", () => {
    const ask = `${boot}; ${keys}; ${boot}; sha256sum --check --quiet /etc/sums && cat /etc/sums`;
    const [one, other] = [1, 2].map(() => inImage({}, ask, installed));
    expect(one).toMatch(/^ssh_host_ecdsa_key\nssh_host_ed25519_key\nssh_host_rsa_key\n/m);
    expect(one).not.toBe(other);
  });

  it.each([
    ["kiln-host-keys.service", "ssh.service sshd.service dropbear.service"],
    ["kiln-machine-identity.service", "network.target"],
  ])("makes them before servers start, in a unit that systemd accepts: %s", (name, before) => {
    const unit = `/etc/systemd/system/${name}`;
    const ask = `systemctl --root=/ is-enabled ${name}
      systemd-analyze verify --man=no ${unit} 2>&1 | grep -F kiln || true
      grep ^Before= ${unit}`;
    expect(inImage({}, ask)).toBe(`enabled\nBefore=${before}\n`);
  });

  it("makes them with another init, too", () => {
    const ask = "bash -x /usr/lib/kiln/boot before-login > /dev/null 2>&1; ls /etc/ssh | grep -c '_key$'";
    expect(Number(inImage({}, ask, `${installed}\n${withoutSystemd}`))).toBeGreaterThan(2);
  });

  it.each(remade)("makes the $what again, which differs from machine to machine", ({ paths }) => {
    const files = paths.map((path) => path.replaceAll("*", "rsa")).join(" ");
    const packaged = `${installed}\n${accounts}\nfor file in ${files}; do mkdir -p $(dirname $file); echo packaged > $file; done`;
    const ask = `ls ${files} 2> /dev/null || true; ${identity} > /dev/null 2>&1; sha256sum ${files}; ${identity} 2>&1`;
    const [one = "", other] = [1, 2].map(() => inImage({}, ask, packaged));
    expect(one.match(/^[0-9a-f]{64} /gm)).toHaveLength(paths.length);
    expect(one).not.toMatch(/^\//m);
    expect(other).not.toBe(one);
  });

  it("leaves the files of a package in the image if nothing could make them again", () => {
    const packaged = `${accounts}\nmkdir -p /etc/bind; echo packaged > /etc/bind/rndc.key; rm /usr/sbin/rndc-confgen`;
    expect(inImage({}, "cat /etc/bind/rndc.key", packaged)).toBe("packaged\n");
  });

  it("has the certificate of ssl-cert and bind's key with the owners that servers need", () => {
    const packaged = `${accounts}\nmkdir -p /etc/bind /etc/ssl/private /etc/ssl/certs; ln -s ssl-cert-snakeoil.pem /etc/ssl/certs/0000.0
      for file in /etc/bind/rndc.key /etc/ssl/private/ssl-cert-snakeoil.key /etc/ssl/certs/ssl-cert-snakeoil.pem; do echo old > $file; done`;
    const ask = `ls /etc/ssl/certs | wc -l; ${identity} > /dev/null 2>&1
      stat --format '%U:%G %a' /etc/bind/rndc.key /etc/ssl/private/ssl-cert-snakeoil.key
      openssl x509 -noout -pubkey -in /etc/ssl/certs/ssl-cert-snakeoil.pem > /run/public
      openssl pkey -pubout -in /etc/ssl/private/ssl-cert-snakeoil.key | cmp - /run/public && echo pair`;
    expect(inImage({}, ask, packaged)).toBe("0\nbind:bind 640\nroot:ssl-cert 640\npair\n");
  });

  it("makes none without a server, or if the distribution makes them", () => {
    const ask = `${boot} || true; ls /etc/ssh`;
    const service = "mkdir -p /usr/libexec/openssh; install -m 755 /bin/true /usr/libexec/openssh/sshd-keygen";
    expect(inImage({}, ask, `${installed}\n${withoutServer}`)).toBe("sshd_config\n");
    expect(inImage({}, ask, `${installed}\n${service}`)).toBe("sshd_config\n");
  });
});
