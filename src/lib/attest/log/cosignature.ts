import { Buffer } from "node:buffer";
import { verify } from "node:crypto";
import { partsOf, signatureLine, signaturesBy, signaturesIn, type NamedKey, type NoteSignature } from "./note.ts";

/*
 * Cosignatures (c2sp.org/tlog-cosignature): a witness states when it saw that a checkpoint continues all earlier ones.
 */

const timeBytes = 8;

const messageOf = (body: string, seconds: bigint): Buffer => Buffer.from(`cosignature/v1\ntime ${seconds}\n${body}`);

/** The line of a witness below a checkpoint. @param at seconds since 1970 */
export function cosignatureLine(
  note: string,
  { witness, sign, at }: { witness: NamedKey; sign: (message: Buffer) => Uint8Array; at: number },
): string {
  const time = Buffer.alloc(timeBytes);
  time.writeBigUInt64BE(BigInt(at));
  const signature = sign(messageOf(partsOf(note).body, BigInt(at)));
  return signatureLine(witness, Buffer.concat([time, signature]));
}

/** The witnesses that have cosigned the checkpoint. */
export function cosignersOf<W extends NamedKey>(note: string, witnesses: readonly W[]): W[] {
  const { body, signatures } = partsOf(note);
  return witnesses.filter((witness) => hasCosigned(body, witness, signatures));
}

/** The lines of an answer in which the witness cosigns the checkpoint. Other lines are ignored. */
export function validLines(note: string, witness: NamedKey, answer: string): string {
  const { body } = partsOf(note);
  const lines = answer.split("\n").filter((line) => hasCosigned(body, witness, signaturesIn(line)));
  return lines.map((line) => `${line}\n`).join("");
}

const hasCosigned = (body: string, witness: NamedKey, signatures: readonly NoteSignature[]): boolean =>
  signaturesBy(witness, signatures).some(
    (bytes) =>
      bytes.length > timeBytes &&
      verify(null, messageOf(body, bytes.readBigUInt64BE()), witness.key.pem, bytes.subarray(timeBytes)),
  );
