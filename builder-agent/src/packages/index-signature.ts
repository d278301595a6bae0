import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RepositoryTrust } from "../contract.ts";
import { run } from "../process.ts";
import { asNobody } from "../testdrive/rights.ts";

export interface SignedIndex {
  index: Uint8Array;
  /** Detached, in armour or binary; absent: the index contains it. */
  signature?: Uint8Array | undefined;
  keys: RepositoryTrust["keys"];
}

/**
 * Asks gpgv whether one of exactly these keys signed exactly these bytes: it knows no other keyring, runs as nobody and finds
 * nothing but the three files. `dir` is made for it, and gone afterwards. A key may have expired since; a revoked one proves
 * nothing.
 */
export async function isSignedIndex({ index, signature, keys }: SignedIndex, dir: string, signal: AbortSignal) {
  await mkdir(dir, { mode: 0o755 });
  try {
    const files = {
      index,
      ...(signature && { "index.asc": signature }),
      "keys.gpg": Buffer.concat(keys.map(({ armour }) => unarmoured(armour))),
    };
    for (const [name, bytes] of Object.entries(files)) await writeFile(join(dir, name), bytes, { mode: 0o644 });
    const lines: string[] = [];
    const signed = signature ? ["index.asc", "index"] : ["index"];
    const words = ["--homedir", ".", "--keyring", "./keys.gpg", "--status-fd", "1", ...signed];
    const options = { cwd: dir, env: gpgEnvironment, signal };
    await run(...asNobody("gpgv", words), {
      ...options,
      onLine: (line) => void (lines.length < 1000 && lines.push(line)),
    });
    return isGood(lines, new Set(keys.map(({ fingerprint }) => fingerprint)));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** What programs that judge signatures see: nothing of the agent's, and messages that can be read by a program. */
export const gpgEnvironment = { PATH: "/usr/bin:/bin", HOME: "/nonexistent", LC_ALL: "C" };

/** gpgv tells of each signature between two NEWSIG; the last word of VALIDSIG is the primary key's fingerprint. */
function isGood(lines: readonly string[], fingerprints: ReadonlySet<string>): boolean {
  const status = lines.flatMap((line) => (line.startsWith("[GNUPG:] ") ? [line.split(" ").slice(1)] : []));
  let accepted = false;
  for (const [word, ...rest] of status) {
    if (word === "NEWSIG") accepted = false;
    if (word === "GOODSIG" || word === "EXPKEYSIG") accepted = true;
    if (word === "VALIDSIG" && accepted && fingerprints.has(rest.at(-1)?.toLowerCase() ?? "")) return true;
  }
  return false;
}

/** gpgv's keyring has no armour: RFC 9580 §6.2, headers up to an empty line, base64, a checksum behind "=". */
function unarmoured(armour: string): Buffer {
  const body = /-----BEGIN [^\n]*\n(?:[^\n]+\n)*?[ \t]*\n([A-Za-z0-9+/=\s]+?)(?:\n=[^\n]*)?\n-----END/.exec(
    armour.replaceAll("\r", ""),
  )?.[1];
  if (body === undefined) throw new Error("a frozen key is not in armour");
  return Buffer.from(body, "base64");
}
