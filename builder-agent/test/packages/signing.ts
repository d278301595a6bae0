/** Real keys, packages and indexes, made with gpg and rpm in a test's directory. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FrozenKey, FrozenPackage } from "../../src/contract.ts";

/**
 * A directory for signing, at this time. The path is short because gpg's agent requires that. Call `close` at the end.
 */
export function openSigning({ time }: { time?: string } = {}) {
  const home = mkdtempSync("/tmp/kiln-gpg-");
  const work = mkdtempSync(join(tmpdir(), "kiln-signing-"));
  const env = { PATH: "/usr/bin:/bin", HOME: work, GNUPGHOME: home, GPG_TTY: "none", LC_ALL: "C" };
  const tool = (command: string, args: string[], input?: string) =>
    execFileSync(command, args, { env, input, cwd: work, encoding: "utf8", stdio: ["pipe", "pipe", "ignore"] });
  const clock = time === undefined ? [] : ["--faked-system-time", time];
  const gpg = (...args: string[]) =>
    tool("gpg", ["--batch", ...clock, "--pinentry-mode", "loopback", "--passphrase", "", ...args]);

  return {
    makeKey(name: string, expires = "never"): FrozenKey {
      const owner = `${name} <${name}@example.invalid>`;
      gpg("--quick-gen-key", owner, "rsa2048", "sign", expires);
      const listed = gpg("--with-colons", "--list-keys", owner);
      const fingerprint = /^fpr:+([0-9A-F]{40}):/m.exec(listed)?.[1]?.toLowerCase() ?? "";
      return { name, fingerprint, armour: gpg("--armor", "--export", fingerprint) };
    },
    /** A package without files, as in a repository. Unsigned if there is no key. */
    makePackage(name: string, key?: FrozenKey): Buffer {
      const spec = join(work, `${name}.spec`);
      const head = `Name: ${name}\nVersion: 1.0\nRelease: 1\nSummary: A test\nLicense: MIT\nBuildArch: noarch`;
      writeFileSync(spec, `${head}\n%description\nA test.\n%files\n`);
      tool("rpmbuild", ["-bb", "--define", `_topdir ${work}/build`, "--define", `_rpmdir ${work}/rpms`, spec]);
      const path = join(work, "rpms/noarch", `${name}-1.0-1.noarch.rpm`);
      const settings = {
        __gpg: "/usr/bin/gpg",
        _gpg_name: key?.fingerprint,
        _gpg_sign_cmd_extra_args: clock.join(" "),
      };
      const defined = Object.entries(settings).flatMap(([macro, value]) => [
        "--define",
        `${macro} ${value || "%{nil}"}`,
      ]);
      if (key) tool("rpmsign", [...defined, "--addsign", path]);
      return readFileSync(path);
    },
    /** A detached, armoured signature. */
    sign(bytes: string, key: FrozenKey): string {
      return tool("gpg", ["--batch", ...clock, "--local-user", key.fingerprint, "--armor", "--detach-sign"], bytes);
    },
    /** The text with its signature, as Debian signs an index. */
    clearSign(text: string, key: FrozenKey): string {
      return tool("gpg", ["--batch", ...clock, "--local-user", key.fingerprint, "--clear-sign"], text);
    },
    /** The same signature, binary. */
    signPlain(bytes: string, key: FrozenKey): Buffer {
      const args = ["--batch", ...clock, "--local-user", key.fingerprint, "--detach-sign"];
      return execFileSync("gpg", args, { env, input: bytes, cwd: work, stdio: ["pipe", "pipe", "ignore"] });
    },
    /** Several keys in one armour. */
    exported: (...keys: FrozenKey[]): string =>
      gpg("--armor", "--export", ...keys.map(({ fingerprint }) => fingerprint)),
    /** The key with its revocation, from the certificate that gpg made together with it. */
    revoked(key: FrozenKey): FrozenKey {
      const certificate = join(home, "openpgp-revocs.d", `${key.fingerprint.toUpperCase()}.rev`);
      tool("gpg", ["--batch", "--import"], readFileSync(certificate, "utf8").replace(/^:-----/m, "-----"));
      return { ...key, armour: gpg("--armor", "--export", key.fingerprint) };
    },
    /** The key with a signing subkey, which gpg then prefers. */
    addSubkey(key: FrozenKey): FrozenKey {
      gpg("--quick-add-key", key.fingerprint, "rsa2048", "sign", "never");
      return { ...key, armour: gpg("--armor", "--export", key.fingerprint) };
    },
    subkeyRevoked(key: FrozenKey): FrozenKey {
      const answers = ["key 1", "revkey", "y", "0", "", "y", "save"].join("\n");
      tool(
        "gpg",
        [
          "--no-tty",
          "--command-fd",
          "0",
          "--pinentry-mode",
          "loopback",
          "--passphrase",
          "",
          "--edit-key",
          key.fingerprint,
        ],
        `${answers}\n`,
      );
      return { ...key, armour: gpg("--armor", "--export", key.fingerprint) };
    },
    close() {
      execFileSync("gpgconf", ["--homedir", home, "--kill", "all"]);
      for (const dir of [home, work]) rmSync(dir, { recursive: true, force: true });
    },
  };
}
export type Signing = ReturnType<typeof openSigning>;

/** Puts a package where `fetchPackages` would, and returns its frozen form. */
export function layPackage(dir: string, bytes: Buffer, name: string): FrozenPackage {
  const value = createHash("sha256").update(bytes).digest("hex");
  mkdirSync(dir, { recursive: true, mode: 0o755 });
  writeFileSync(join(dir, `${value}.rpm`), bytes, { mode: 0o644 });
  const nevra = { name, epoch: 0, version: "1.0", release: "1", arch: "noarch" };
  const location = `noarch/${name}-1.0-1.noarch.rpm`;
  return { ...nevra, repository: "main", location, size: bytes.length, checksum: { type: "sha256", value } };
}
