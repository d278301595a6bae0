import { readdir } from "node:fs/promises";
import { run } from "../process.ts";
import { asNobody } from "../testdrive/rights.ts";
import { gpgEnvironment } from "./index-signature.ts";

/** OpenPGP's types of signatures: of a key, and of a subkey. */
const revocations = { key: "0x20", subkey: "0x28" };

/**
 * The ids of the keys in a directory of armoured keys that their owners have revoked; rpm does not look at revocations.
 * A revocation counts even if its own signature does not hold, since a key with such a packet in it was changed by someone.
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
