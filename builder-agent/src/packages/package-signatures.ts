import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BuildFailure } from "../build/build-failure.ts";
import { nvra, type FrozenInput, type FrozenKey, type FrozenPackage } from "../contract.ts";
import { run } from "../process.ts";
import { asNobody } from "../testdrive/rights.ts";
import { gpgEnvironment } from "./index-signature.ts";
import { packageFile } from "./package-file.ts";
import { revokedKeys } from "./revoked-keys.ts";

export interface SignedPackages {
  /** All of one repository, which is signed. */
  packages: FrozenPackage[];
  repository: FrozenInput["repositories"][number];
  /** Those of the repository, and the appliance's own: no other is known to rpm. */
  keys: FrozenKey[];
  /** Where the packages are; the directory of their keys is there for the time of the check. */
  dir: string;
  signal: AbortSignal;
}

/** Looks at every package with rpmkeys, as the user nobody: one of the keys must have signed each. Refuses the first that fails. */
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

/** So many names fit on a command line. */
const atOnce = 1000;
const keyringName = ".keys";

async function checkSome(packages: FrozenPackage[], check: SignedPackages): Promise<void> {
  const lines = await rpmkeys(packages.map(packageFile), check);
  const good = new Set(lines.map((line) => /^([0-9a-f]+\.rpm): digests signatures OK$/.exec(line)?.[1]));
  const wrong = packages.find((one) => !good.has(packageFile(one)));
  if (wrong === undefined) return;
  throw refusal(wrong, reasonOf(await rpmkeys(["-v", packageFile(wrong)], check)), check);
}

/** rpm has found all these signatures good. */
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

/** rpm's own keyring of files, instead of a database: it finds the directory by the process's working directory alone. */
const settings = {
  _keyring: "fs",
  _keyringpath: `/proc/self/cwd/${keyringName}`,
  _dbpath: "/proc/self/cwd/.none",
  _pkgverify_level: "signature",
  _pkgverify_flags: "0",
};

async function rpmkeys(words: string[], { dir, signal }: SignedPackages): Promise<string[]> {
  const lines: string[] = [];
  const defined = Object.entries(settings).flatMap(([name, value]) => ["--define", `${name} ${value}`]);
  const [command, args] = asNobody("rpmkeys", [...defined, "--checksig", ...words]);
  await run(command, args, { cwd: dir, env: gpgEnvironment, signal, onLine: (line) => void lines.push(line) });
  return lines;
}

/** From rpmkeys -v: a line for each signature and digest, with OK, NOKEY, NOTTRUSTED, BAD or NOTFOUND at its end. */
function reasonOf(lines: readonly string[]): string {
  const signatures = lines.flatMap((line) => {
    const [, keyId, verdict] = /key ID ([0-9a-f]+): ([A-Z]+)/i.exec(line) ?? [];
    return keyId && verdict ? [{ keyId, verdict }] : [];
  });
  const bad = signatures.find(({ verdict }) => verdict === "BAD");
  if (bad) return `has a wrong signature by the key ${bad.keyId}`;
  if (lines.some((line) => /: BAD\b/.test(line))) return "is not what was signed";
  const stranger = signatures.find(({ verdict }) => verdict !== "OK");
  if (stranger) return `is signed by the key ${stranger.keyId}, which is neither the repository's nor the appliance's`;
  if (signatures.length > 0) return "is signed in a way that rpm does not accept";
  return "is not signed";
}
