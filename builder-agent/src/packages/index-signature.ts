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
  const files = {
    index,
    ...(signature && { "index.asc": signature }),
    "keys.gpg": Buffer.concat(keys.map(({ armour }) => unarmoured(armour))),
  };
  const { lines } = await askGpgv(files, { dir, signed: signature ? ["index.asc", "index"] : ["index"], signal });
  const fingerprints = new Set(keys.map(({ fingerprint }) => fingerprint));
  return signerIn(lines, (one) => fingerprints.has(one)) !== undefined;
}

/**
 * The text that a clearsigned file signs, and the fingerprint of the key of this armoured keyring that did it. Nothing before and
 * after the signed part is in the text. Undefined: none of the keys signed it.
 */
export async function readSigned(
  index: Uint8Array,
  keyring: string,
  { dir, signal }: { dir: string; signal: AbortSignal },
): Promise<{ text: string; signedBy: string } | undefined> {
  const files = { index, "keys.gpg": Buffer.concat(armours(keyring).map(unarmoured)) };
  const { lines, text } = await askGpgv(files, { dir, signed: ["--output", "-", "index"], signal });
  const signedBy = signerIn(lines, () => true);
  return signedBy === undefined ? undefined : { text, signedBy };
}

const armours = (keyring: string): string[] => keyring.match(/-----BEGIN [^]*?-----END [^\n]*/g) ?? [];

interface GpgvRun {
  dir: string;
  /** The words of the command line behind its options. */
  signed: string[];
  signal: AbortSignal;
}

async function askGpgv(files: Record<string, Uint8Array>, { dir, signed, signal }: GpgvRun) {
  await mkdir(dir, { mode: 0o755 });
  try {
    for (const [name, bytes] of Object.entries(files)) await writeFile(join(dir, name), bytes, { mode: 0o644 });
    const lines: string[] = [];
    const chunks: Buffer[] = [];
    const words = ["--homedir", ".", "--keyring", "./keys.gpg", "--status-fd", "2", ...signed];
    await run(...asNobody("gpgv", words), {
      cwd: dir,
      env: gpgEnvironment,
      signal,
      onLine: (line) => void (lines.length < 1000 && lines.push(line)),
      onOutput: async (output) => {
        for await (const chunk of output) chunks.push(chunk);
      },
    });
    return { lines, text: Buffer.concat(chunks).toString() };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** What programs that judge signatures see: nothing of the agent's, and messages that can be read by a program. */
export const gpgEnvironment = { PATH: "/usr/bin:/bin", HOME: "/nonexistent", LC_ALL: "C" };

/** gpgv tells of each signature between two NEWSIG; the last word of VALIDSIG is the primary key's fingerprint. */
function signerIn(lines: readonly string[], isKnown: (fingerprint: string) => boolean): string | undefined {
  const status = lines.flatMap((line) => (line.startsWith("[GNUPG:] ") ? [line.split(" ").slice(1)] : []));
  let accepted = false;
  for (const [word, ...rest] of status) {
    if (word === "NEWSIG") accepted = false;
    if (word === "GOODSIG" || word === "EXPKEYSIG") accepted = true;
    const fingerprint = rest.at(-1)?.toLowerCase() ?? "";
    if (word === "VALIDSIG" && accepted && isKnown(fingerprint)) return fingerprint;
  }
  return undefined;
}

/** gpgv's keyring has no armour: RFC 9580 §6.2, headers up to an empty line, base64, a checksum behind "=". */
function unarmoured(armour: string): Buffer {
  const body = /-----BEGIN [^\n]*\n(?:[^\n]+\n)*?[ \t]*\n([A-Za-z0-9+/=\s]+?)(?:\n=[^\n]*)?\n-----END/.exec(
    armour.replaceAll("\r", ""),
  )?.[1];
  if (body === undefined) throw new Error("a frozen key is not in armour");
  return Buffer.from(body, "base64");
}
