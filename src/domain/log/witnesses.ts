import { readCheckpoint } from "#lib/attest/log/checkpoint";
import { cosignersOf, validLines } from "#lib/attest/log/cosignature";
import { readKey, type NamedKey } from "#lib/attest/log/note";
import { nodesInTiles } from "#lib/attest/log/tiles";
import { consistencyProof } from "#lib/attest/log/tree";
import { writeSubmission } from "#lib/attest/log/witness";
import { logFailure } from "#log/log";
import { findCheckpoint, readTile, replaceCheckpoint } from "#storage/log-files";

export type WitnessEnv = Pick<Env, "BLOBS" | "WITNESSES">;

/** A witness of the public log, chosen by the operator. */
interface Witness extends NamedKey {
  /** The prefix of its submission URL. */
  url: string;
}

/** Longer than any witness takes. */
const deadlineMs = 10_000;
const longestAnswer = 16_384;

/** Reads `KEY ADDRESS` pairs, separated by commas. Throws if one cannot be read. */
function witnessesOf({ WITNESSES: setting }: Pick<Env, "WITNESSES">): Witness[] {
  const pairs = (setting ?? "").split(",").map((pair) => pair.trim());
  return pairs.filter((pair) => pair !== "").map(witnessOf);
}

function witnessOf(pair: string): Witness {
  const [text = "", address = ""] = pair.split(/\s+/);
  const named = readKey(text);
  const url = URL.parse(address)?.href.replace(/\/+$/, "");
  if (named?.type === "witness" && url !== undefined) return { ...named, url };
  throw new Error(`WITNESSES has an entry that is not the key of a witness and its address: ${pair}`);
}

/**
 * Stores the newest checkpoint with the witnesses' cosignatures. Sends it to those that have not cosigned it yet. If
 * one does not answer, the next chore tries again.
 */
export async function cosign(env: WitnessEnv): Promise<void> {
  const witnesses = witnessesOf(env);
  const newest = witnesses.length > 0 ? await findCheckpoint(env.BLOBS) : undefined;
  const size = newest && readCheckpoint(newest.note)?.size;
  if (!newest || size === undefined) return;
  const stored = await findCheckpoint(env.BLOBS, "cosigned");
  const before = stored?.note ?? "";
  const nodeAt = nodesInTiles(size, (path) => readTile(env.BLOBS, path));
  const proofFrom = async (old: number) => await consistencyProof(old, size, nodeAt);
  const linesOf = async (witness: Witness) =>
    validLines(newest.note, witness, before) ||
    (await askAgainLater(witness, { note: newest.note, size, old: sizeSeenBy(witness, before), proofFrom }));
  const lines = (await Promise.all(witnesses.map(linesOf))).filter((one) => one !== "");
  const note = newest.note + lines.join("");
  if (lines.length === witnesses.length) await keepForOldEntries(env.BLOBS, note);
  if (lines.length > 0 && note !== before) await replaceCheckpoint(env.BLOBS, note, stored, "cosigned");
}

/** While a witness is away, proofs of older entries still have its cosignature. */
async function keepForOldEntries(blobs: R2Bucket, note: string): Promise<void> {
  const stored = await findCheckpoint(blobs, "cosigned-by-all");
  if (stored?.note !== note) await replaceCheckpoint(blobs, note, stored, "cosigned-by-all");
}

const sizeSeenBy = (witness: Witness, note: string): number =>
  cosignersOf(note, [witness]).length > 0 ? (readCheckpoint(note)?.size ?? 0) : 0;

interface Question {
  note: string;
  size: number;
  /** The size of the log that the witness saw last, as far as this service knows. */
  old: number;
  proofFrom: (old: number) => Promise<Buffer[]>;
}

async function askAgainLater(witness: Witness, question: Question): Promise<string> {
  try {
    return await ask(witness, question);
  } catch (error) {
    logFailure("could not get a cosignature for the public log", error, { witness: witness.name });
    return "";
  }
}

/** Returns the lines of the witness's cosignatures. Sends a second request if the witness last saw a different size. */
async function ask(witness: Witness, { note, size, old, proofFrom }: Question): Promise<string> {
  const first = await submit(witness, { old, proof: await proofFrom(old), note });
  if (first.status !== 409) return cosignatures(witness, note, first);
  const seen = Number(first.text);
  if (!Number.isSafeInteger(seen) || seen < 0) throw new Error("it answered 409 without a size");
  if (seen > size) throw new Error(`it has seen ${seen} entries, and the public log has ${size}: it was rewound`);
  return cosignatures(witness, note, await submit(witness, { old: seen, proof: await proofFrom(seen), note }));
}

interface Answer {
  status: number;
  text: string;
}

function cosignatures(witness: Witness, note: string, { status, text }: Answer): string {
  if (status !== 200) throw new Error(`it answered ${status}: ${text.slice(0, 200)}`);
  const lines = validLines(note, witness, text);
  if (lines === "") throw new Error("its answer has no valid cosignature by its key");
  return lines;
}

/** The operator chose the address, so it may be in a private network. */
async function submit({ url }: Witness, submission: Parameters<typeof writeSubmission>[0]): Promise<Answer> {
  const answer = await fetch(`${url}/add-checkpoint`, {
    method: "POST",
    body: writeSubmission(submission),
    redirect: "manual",
    signal: AbortSignal.timeout(deadlineMs),
  });
  return { status: answer.status, text: await beginningOf(answer) };
}

/** Reads the beginning of an answer. Closes the connection if the answer is longer than any that is needed. */
async function beginningOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > longestAnswer) throw new Error("its answer is too long");
  }
  return text;
}
