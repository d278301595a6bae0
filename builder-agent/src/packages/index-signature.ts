import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RepositoryTrust } from "../contract.ts";
import { endOf, run } from "../process.ts";
import { asNobody } from "../testdrive/rights.ts";

export interface SignedIndex {
  index: Uint8Array;
  /** Detached, in armour or binary. Absent if the index contains its signature. */
  signature?: Uint8Array | undefined;
  keys: RepositoryTrust["keys"];
}

/**
 * Asks gpgv whether one of these keys signed these bytes. gpgv knows no other keyring, and runs as the user nobody in
 * `dir`, which has only these files and is deleted afterwards. A key may have expired since. A signature by a revoked
 * key does not count.
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
 * The signed text in a clearsigned file, without anything before and after it, and the fingerprint of the key that
 * signed it. Undefined if no key of this armoured keyring signed it.
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
  /** The arguments after the options. */
  signed: string[];
  signal: AbortSignal;
}

const statusPrefix = "[GNUPG:] ";
const unreadKeyring = / ERROR add_keyblock_resource /;

/** Throws if gpgv cannot read a file, or is killed: neither proves anything about the signature. */
async function askGpgv(files: Record<string, Uint8Array>, { dir, signed, signal }: GpgvRun) {
  await mkdir(dir, { mode: 0o755 });
  try {
    for (const [name, bytes] of Object.entries(files)) await writeFile(join(dir, name), bytes, { mode: 0o644 });
    const lines: string[] = [];
    const chunks: Buffer[] = [];
    const words = ["--homedir", ".", "--keyring", "./keys.gpg", "--status-fd", "2", ...signed];
    const exit = await run(...asNobody("gpgv", words), {
      cwd: dir,
      env: gpgEnvironment,
      signal,
      onLine: (line) => void (lines.length < 1000 && lines.push(line)),
      onOutput: async (output) => {
        for await (const chunk of output) chunks.push(chunk);
      },
    });
    const said = lines.filter((line) => line.startsWith(statusPrefix));
    const isAnswer = "code" in exit && said.length > 0 && !said.some((line) => unreadKeyring.test(line));
    if (!isAnswer) throw new Error(`gpgv could not check a signature: ${lines.at(-1) ?? endOf(exit)}`);
    return { lines, text: Buffer.concat(chunks).toString() };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** The environment of programs that check signatures: none of the agent's own variables, and English messages. */
export const gpgEnvironment = { PATH: "/usr/bin:/bin", HOME: "/nonexistent", LC_ALL: "C" };

/** gpgv begins the report of each signature with NEWSIG. The last word of VALIDSIG is the primary key's fingerprint. */
function signerIn(lines: readonly string[], isKnown: (fingerprint: string) => boolean): string | undefined {
  const status = lines.flatMap((line) => (line.startsWith(statusPrefix) ? [line.split(" ").slice(1)] : []));
  let accepted = false;
  for (const [word, ...rest] of status) {
    if (word === "NEWSIG") accepted = false;
    if (word === "GOODSIG" || word === "EXPKEYSIG") accepted = true;
    const fingerprint = rest.at(-1)?.toLowerCase() ?? "";
    if (word === "VALIDSIG" && accepted && isKnown(fingerprint)) return fingerprint;
  }
  return undefined;
}

/**
 * Removes the armour, which gpgv's keyrings do not have. See RFC 9580 §6.2: headers up to an empty line, base64, a
 * checksum after "=".
 */
function unarmoured(armour: string): Buffer {
  const body = /-----BEGIN [^\n]*\n(?:[^\n]+\n)*?[ \t]*\n([A-Za-z0-9+/=\s]+?)(?:\n=[^\n]*)?\n-----END/.exec(
    armour.replaceAll("\r", ""),
  )?.[1];
  if (body === undefined) throw new Error("a frozen key is not in armour");
  return Buffer.from(body, "base64");
}
