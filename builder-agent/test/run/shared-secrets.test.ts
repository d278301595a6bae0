import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { treeAt } from "../../src/run/root-walk.ts";
import { sharedSecrets } from "../../src/run/shared-secrets.ts";
import { temporaryDir } from "../support/agent-place.ts";

const { signal } = new AbortController();

/** Keys that the host's OpenSSH and OpenSSL have made for this run. */
const keyOf = (type: string, more: string[] = []) => {
  const command = `d=$(mktemp -d); ssh-keygen -q -t ${type} -N '' ${more.join(" ")} -f $d/key && cat $d/key; rm -r $d`;
  return execFileSync("bash", ["-c", command], { encoding: "utf8" });
};
const openSshKey = keyOf("ed25519");
const pemKey = execFileSync("openssl", ["genpkey", "-algorithm", "ed25519"], { encoding: "utf8" });
const certificate = execFileSync(
  "openssl",
  ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "-", "-out", "-", "-subj", "/CN=here"],
  { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
);
const hex = "0123456789abcdef0123456789abcdef\n";
const wireGuardKey = `${"A".repeat(43)}=`;

/** Secrets that packages and build scripts leave in a root, and the report about each. */
const planted: readonly (readonly [path: string, text: string, says: string])[] = [
  ["/etc/ssh/ssh_host_ed25519_key", openSshKey, "SSH host key"],
  ["/etc/machine-id", hex, "machine-id"],
  ["/etc/ejabberd/ejabberd.pem", certificate, "private key"],
  ["/var/lib/systemd/random-seed", "\0\u0001\u0002", "random seed"],
  ["/root/.aws/credentials", "[default]\naws_secret_access_key = x\n", "credentials of AWS"],
  ["/root/.bash_history", "mysql -psecret\n", "history of commands"],
  ["/etc/ssl/private/ssl-cert-snakeoil.key", pemKey, "certificate of the package ssl-cert"],
  ["/etc/bind/rndc.key", 'key "rndc-key" { secret "x"; };\n', "key of the name server bind9"],
  ["/var/lib/dhcp/dhclient.eth0.leases", "lease {}\n", "DHCP identity"],
  ["/home/test/.ssh/id_ed25519", openSshKey, "private key"],
  ["/root/.config/gcloud/application_default_credentials.json", "{}", "credentials of Google Cloud"],
  ["/root/.azure/msal_token_cache.json", "{}", "credentials of Azure"],
  ["/home/clerk/.netrc", "machine x password y\n", "passwords of other machines"],
  ["/root/.docker/config.json", '{"auths":{"x":{"auth":"eA=="}}}', "credentials of a container registry"],
  ["/srv/app/kubeconfig", "users:\n- user:\n    client-key-data: eA==\n", "credentials of a Kubernetes cluster"],
  ["/opt/app/service-account.json", `{"private_key": ${JSON.stringify(pemKey)}}`, "private key"],
  ["/etc/wireguard/wg0.conf", `[Interface]\nPrivateKey = ${wireGuardKey}\n`, "private key of WireGuard"],
  ["/etc/krb5.keytab", "\u0005\u0002", "key of Kerberos"],
  ["/var/lib/samba/private/secrets.tdb", "TDB file\n", "secrets of Samba"],
  ["/etc/dropbear/initramfs/dropbear_rsa_host_key", "\0\0\0\u0007ssh-rsa", "SSH host key"],
  ["/root/.gnupg/private-keys-v1.d/A.key", "(11:private-key)", "private key"],
  ["/root/key.asc", `-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n${"A".repeat(64)}\n`, "private key"],
  ["/root/key.age", `# created today\nAGE-SECRET-KEY-1${"Q".repeat(58)}\n`, "private key"],
];

/** A root as a build leaves it, without any secrets. */
const harmless: Readonly<Record<string, string>> = {
  "/etc/machine-id": "",
  "/etc/ssh/ssh_host_rsa_key": "",
  "/etc/ssh/sshd_config": "HostKey /etc/ssh/ssh_host_rsa_key\n",
  "/etc/shadow": "root:$6$x:20000:0:99999:7:::\n",
  "/etc/iscsi/initiatorname.iscsi": "GenerateName=yes\n",
  "/etc/cron.daily/check":
    "#!/bin/sh\ngrep -q -e '-----BEGIN PRIVATE KEY-----' /etc/x\n# -----BEGIN PRIVATE KEY-----\n",
  "/etc/ssl/certs/ca.pem": certificate.slice(certificate.indexOf("-----BEGIN CERTIFICATE")),
  "/root/.docker/config.json": '{"auths":{},"credsStore":"pass"}',
  "/root/.kube/config": "clusters: []\n",
  "/root/.npmrc": "registry=https://npm.example/\n",
  "/root/.ssh/authorized_keys": "ssh-ed25519 AAAA me\n",
  "/opt/app/node_modules/tls/test/fixtures/key.pem": pemKey,
  "/usr/share/doc/openssl/key.pem": pemKey,
  "/usr/lib/python3/test/keycert.pem": certificate,
};

/** A root of this host with these files. */
async function rootWith(files: Readonly<Record<string, string>>) {
  const dir = await temporaryDir();
  const root = join(dir.path, "root");
  const at = (path: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    return join(root, path);
  };
  for (const [path, text] of Object.entries(files)) writeFileSync(at(path), text);
  return { root, at, outside: dir.path, [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose]() };
}

describe("the scan of a built root", () => {
  it("reports each planted secret in one sentence, without its content", async () => {
    await using tree = await rootWith({ ...harmless, ...Object.fromEntries(planted) });
    const said = await sharedSecrets(treeAt(tree.root), signal);
    const wanted = planted.map(([path, , says]) => `${says}: ${path}`);
    expect(
      said
        .map((line) =>
          line.replace(/^(?:All machines of this image have the same|Everyone with this image has the) /, ""),
        )
        .toSorted(),
    ).toEqual(wanted.toSorted());
    for (const text of [openSshKey, pemKey, certificate, wireGuardKey].flatMap((secret) => secret.split("\n")))
      if (text.length > 20 && !text.startsWith("-")) expect(said.join("\n")).not.toContain(text);
  });

  it("reports nothing in a root that has none", async () => {
    await using tree = await rootWith(harmless);
    expect(await sharedSecrets(treeAt(tree.root), signal)).toEqual([]);
  });

  it("does not report the appliance's own files, which its owner has put there", async () => {
    await using tree = await rootWith({ "/etc/tls/web.key": pemKey, "/etc/tls/other.key": pemKey });
    expect(await sharedSecrets(treeAt(tree.root), signal, [{ path: "/etc/tls/web.key" }])).toEqual([
      "All machines of this image have the same private key: /etc/tls/other.key",
    ]);
  });

  it("finds a key that comes after a certificate, and one with a passphrase", async () => {
    const locked = keyOf("rsa", ["-m", "PEM", "-N", "secret"]);
    const last = certificate.indexOf("-----BEGIN CERTIFICATE");
    const turned = certificate.slice(last) + certificate.slice(0, last);
    await using tree = await rootWith({ "/etc/a.pem": turned, "/etc/b": locked });
    expect(await sharedSecrets(treeAt(tree.root), signal)).toHaveLength(2);
  });

  it("reads only the beginning of files that are not too large for a key", async () => {
    await using tree = await rootWith({ "/var/large": pemKey, "/var/late": `${"x".repeat(16 * 1024)}\n${pemKey}` });
    truncateSync(tree.at("/var/large"), 2 * 1024 ** 3);
    expect(await sharedSecrets(treeAt(tree.root), signal)).toEqual([]);
  });

  it("follows no link, opens no pipe and no device, and reads a file with two names", async () => {
    await using tree = await rootWith({ "/etc/one.key": pemKey });
    const stranger = join(tree.outside, "stranger");
    mkdirSync(stranger);
    writeFileSync(join(stranger, "credentials"), "secret");
    writeFileSync(join(stranger, "key"), pemKey);
    symlinkSync(join(stranger, "key"), tree.at("/etc/link.key"));
    symlinkSync("../../stranger/key", tree.at("/etc/relative.key"));
    symlinkSync(stranger, tree.at("/root/.aws"));
    linkSync(tree.at("/etc/one.key"), tree.at("/srv/other.key"));
    // Reading a pipe would wait forever.
    execFileSync("mkfifo", [tree.at("/etc/pipe.key"), tree.at("/root/.netrc")]);
    execFileSync("mknod", [tree.at("/etc/zero.key"), "c", "1", "5"]);
    const same = "All machines of this image have the same private key";
    expect(await sharedSecrets(treeAt(tree.root), signal)).toEqual([
      `${same}: /etc/one.key`,
      `${same}: /srv/other.key`,
    ]);
  });

  it("says a strange name in one line, and counts what is too much to list", async () => {
    const strange = "/etc/..\n[ ERROR   ]: 00:00:00 | error: \u202Ex";
    await using tree = await rootWith({ [strange]: pemKey });
    expect(await sharedSecrets(treeAt(tree.root), signal)).toEqual([
      "All machines of this image have the same private key: /etc/..?[ ERROR   ]: 00:00:00 | error: ?x",
    ]);
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, nth) => [`/etc/${nth}.key`, pemKey]));
    await using crowd = await rootWith(many);
    const said = await sharedSecrets(treeAt(crowd.root), signal);
    expect(said).toHaveLength(51);
    expect(said.at(-1)).toMatch(/^10 more files /);
  });

  it("cannot be led out of a guest's result by a name", async () => {
    await using tree = await rootWith({});
    const entry = { type: "f", mode: 0o600, uid: 0, gid: 0, size: 9, target: "" } as const;
    writeFileSync(tree.at("/0"), "harmless\n");
    const entries = async function* () {
      yield { ...entry, path: "/etc/../../x/.netrc/../machine-id", hostPath: tree.at("/0") };
    };
    expect(await sharedSecrets({ ...treeAt(tree.root), entries }, signal)).toEqual([]);
  });
});
