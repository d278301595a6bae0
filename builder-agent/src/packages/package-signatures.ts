import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BuildFailure } from "../run/failure.ts";
import { nvra, type FrozenInput, type FrozenKey, type FrozenPackage } from "../contract.ts";
import { endOf, run } from "../process.ts";
import { asNobody } from "../testdrive/rights.ts";
import { gpgEnvironment } from "./index-signature.ts";
import { packageFile } from "./package-file.ts";

export interface SignedPackages {
  /** All packages of one signed repository. */
  packages: FrozenPackage[];
  repository: FrozenInput["repositories"][number];
  /** The keys of the repository and of the appliance. rpm knows no others. */
  keys: FrozenKey[];
  /** The directory with the packages. A directory for their keys is made here during the check. */
  dir: string;
  signal: AbortSignal;
}

/**
 * Checks with rpmkeys, as the user nobody, that one of the keys signed each package. Refuses the first package that
 * fails.
 */
export async function checkPackageSignatures(check: SignedPackages): Promise<void> {
  const { packages, keys, dir } = check;
  const keyring = join(dir, keyringName);
  await mkdir(keyring, { mode: 0o755 });
  try {
    for (const { fingerprint, armour } of keys) {
      await writeFile(join(keyring, `${fingerprint}.key`), armour, { mode: 0o644 });
    }
    const revoked = await revokedKeys(keyring, check.signal);
    for (let first = 0; first < packages.length; first += atOnce) {
      const some = packages.slice(first, first + atOnce);
      await checkSome(some, check);
      if (revoked.size > 0) await refuseRevoked(some, revoked, check);
    }
  } finally {
    await rm(keyring, { recursive: true, force: true });
  }
}

/** The number of names that fit on a command line. */
const atOnce = 1000;
const keyringName = ".keys";

async function checkSome(packages: FrozenPackage[], check: SignedPackages): Promise<void> {
  const lines = await rpmkeys(packages.map(packageFile), check);
  const good = new Set(lines.map((line) => /^([0-9a-f]+\.rpm): digests signatures OK$/.exec(line)?.[1]));
  const wrong = packages.find((one) => !good.has(packageFile(one)));
  if (wrong === undefined) return;
  throw refusal(wrong, reasonOf(await rpmkeys(["-v", packageFile(wrong)], check)), check);
}

/** Looks for revoked keys among those of signatures that rpm has accepted. */
async function refuseRevoked(packages: FrozenPackage[], revoked: ReadonlySet<string>, check: SignedPackages) {
  let file: string | undefined;
  for (const line of await rpmkeys(["-v", ...packages.map(packageFile)], check)) {
    file = /^([0-9a-f]+\.rpm):$/.exec(line)?.[1] ?? file;
    const keyId = /key ID ([0-9a-f]+): OK/i.exec(line)?.[1]?.toLowerCase();
    const wrong = packages.find((one) => packageFile(one) === file);
    if (!keyId || !wrong || ![...revoked].some((id) => id.endsWith(keyId))) continue;
    throw refusal(wrong, `is signed by the key ${keyId}, which its owner has revoked`, check);
  }
}

function refusal(wrong: FrozenPackage, why: string, { repository }: SignedPackages): BuildFailure {
  const reason = `${nvra(wrong)} of the repository ${repository.name} ${why}.`;
  return new BuildFailure({ kind: "failed", reason: `${reason.slice(0, 1000)} ${fix}` });
}

const fix =
  "Add its signer's key to the appliance's GPG keys if you trust it, or refresh the repository and build again.";

/** rpm's keyring of files instead of a database, relative to the working directory. */
const settings = {
  _keyring: "fs",
  _keyringpath: `/proc/self/cwd/${keyringName}`,
  _dbpath: "/proc/self/cwd/.none",
  _pkgverify_level: "signature",
  _pkgverify_flags: "0",
};

/** Throws if rpmkeys cannot read a package, or is killed: neither proves anything about the signatures. */
async function rpmkeys(words: string[], { dir, signal }: SignedPackages): Promise<string[]> {
  const lines: string[] = [];
  const defined = Object.entries(settings).flatMap(([name, value]) => ["--define", `${name} ${value}`]);
  const [command, args] = asNobody("rpmkeys", [...defined, "--checksig", ...words]);
  const onLine = (line: string) => void lines.push(line);
  const exit = await run(command, args, { cwd: dir, env: gpgEnvironment, signal, onLine });
  const unread = "code" in exit ? lines.find((line) => /^error: open of .* failed: /.test(line)) : endOf(exit);
  if (unread !== undefined) throw new Error(`rpmkeys could not check the packages: ${unread}`);
  return lines;
}

/** `rpmkeys -v` prints a line for each signature and digest, which ends with OK, NOKEY, NOTTRUSTED, BAD or NOTFOUND. */
function reasonOf(lines: readonly string[]): string {
  const signatures = lines.flatMap((line) => {
    const [, keyId, verdict] = /key ID ([0-9a-f]+): ([A-Z]+)/i.exec(line) ?? [];
    return keyId && verdict ? [{ keyId, verdict }] : [];
  });
  const bad = signatures.find(({ verdict }) => verdict === "BAD");
  if (bad) return `has an invalid signature by the key ${bad.keyId}`;
  if (lines.some((line) => /: BAD\b/.test(line))) return "is not what was signed";
  const stranger = signatures.find(({ verdict }) => verdict !== "OK");
  if (stranger) return `is signed by the key ${stranger.keyId}, which is neither the repository's nor the appliance's`;
  if (signatures.length > 0) return "is signed in a way that rpm does not accept";
  return "is not signed";
}

/** OpenPGP's signature types for the revocation of a key and of a subkey. */
const revocations = { key: "0x20", subkey: "0x28" };

/**
 * The ids of the revoked keys in a directory of armoured keys. rpm ignores revocations. A revocation counts even if its
 * own signature is wrong, because then someone has changed the key.
 */
export async function revokedKeys(dir: string, signal: AbortSignal): Promise<Set<string>> {
  const revoked = new Set<string>();
  for (const name of await readdir(dir)) for (const id of await revokedIn(name, dir, signal)) revoked.add(id);
  return revoked;
}

async function revokedIn(file: string, dir: string, signal: AbortSignal): Promise<string[]> {
  const keys: { id: string; revoked: boolean }[] = [];
  const words = ["--batch", "--no-options", "--no-keyring", "--homedir", "/nonexistent", "--list-packets", file];
  await run(...asNobody("gpg", words), {
    cwd: dir, // the user nobody cannot enter its parents
    env: gpgEnvironment,
    signal,
    onLine: (line) => {
      const id = /^\tkeyid: ([0-9A-F]{16})$/.exec(line)?.[1];
      if (id !== undefined) keys.push({ id: id.toLowerCase(), revoked: false });
      const kind = /, sigclass (0x[0-9a-f]{2})$/.exec(line)?.[1];
      const [primary, last] = [keys.at(0), keys.at(-1)];
      if (kind === revocations.key && primary) primary.revoked = true;
      if (kind === revocations.subkey && last) last.revoked = true;
    },
  });
  const isRevoked = keys.at(0)?.revoked === true;
  return keys.flatMap(({ id, revoked }) => (revoked || isRevoked ? [id] : []));
}
