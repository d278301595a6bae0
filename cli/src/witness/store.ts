import { createHash, createPublicKey, generateKeyPairSync } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Complaint } from "../complaint.ts";
import { readIfThere } from "../files.ts";
import { publicKeyFrom, readCheckpoint, type Checkpoint, type NamedKey } from "../image-log.ts";

/** The folder of a witness: its private key, and the last checkpoint of each log that it has cosigned. */
export class WitnessFolder {
  readonly #folder: string;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#folder = folder;
  }

  /** The private key in PEM, which is made at the first start. */
  key(name: string): { witness: NamedKey; pem: string } {
    const file = join(this.#folder, "witness-key.pem");
    let pem = readIfThere(file)?.toString("utf8");
    if (pem === undefined) {
      pem = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }).toString();
      this.#write("witness-key.pem", pem);
    }
    const { x } = createPublicKey(pem).export({ format: "jwk" });
    if (x === undefined) throw new Complaint("misused", `${file} has no Ed25519 key.`, "Restore it from a backup.");
    return { witness: { name, type: "witness", key: publicKeyFrom(Buffer.from(x, "base64url")) }, pem };
  }

  /** The last checkpoint with the signatures of the log and the witness. */
  note(hash: string): string | undefined {
    return readIfThere(join(this.#folder, `${hash}.checkpoint`))?.toString("utf8");
  }

  /** Undefined if the witness has never cosigned a checkpoint of the log. */
  seen(origin: string): Checkpoint | undefined {
    const note = this.note(hashOf(origin));
    const checkpoint = note === undefined ? undefined : readCheckpoint(note);
    // Otherwise the witness would cosign any history.
    if (note !== undefined && checkpoint?.origin !== origin)
      throw new Complaint(
        "refused",
        `The checkpoint of ${origin} in ${this.#folder} is damaged.`,
        "Restore it from a backup.",
      );
    return checkpoint;
  }

  keep(origin: string, note: string): void {
    this.#write(`${hashOf(origin)}.checkpoint`, note);
  }

  /** Returns only when the whole file is on the disk: a witness must never forget what it has signed. */
  #write(name: string, text: string): void {
    const draft = join(this.#folder, `${name}.new`);
    const file = openSync(draft, "w", 0o600);
    writeSync(file, text);
    fsyncSync(file);
    closeSync(file);
    renameSync(draft, join(this.#folder, name));
    const folder = openSync(this.#folder, "r");
    fsyncSync(folder);
    closeSync(folder);
  }
}

const hashOf = (origin: string): string => createHash("sha256").update(origin).digest("hex");
