import {
  artifactNames,
  optionalArtifacts,
  partBytes,
  type ArtifactName,
  type CompleteUpload,
  type UploadState,
} from "#lib/contract/index";
import type { Artifacts, StoredArtifact } from "#domain/builds/record";
import { abortUpload, completeUpload, digestOfParts, openUpload, type UploadAddress } from "#storage/artifacts";
import { artifactKey } from "#storage/blobs";
import { bringTables } from "./tables.ts";

export interface RecordedPart {
  number: number;
  etag: string;
  sha256: string;
  size: number;
}

/** An artifact of an attempt, by its name. */
export interface ArtifactOf {
  attempt: number;
  name: ArtifactName;
}

export interface UploadRefused {
  refused: "no_upload" | "wrong_part" | "incomplete" | "wrong_digest";
}

/** The `upload_id` of an artifact that another build has uploaded. */
const notUploaded = "";

// R2's limit.
const maxParts = 10_000;

const tables = [
  `CREATE TABLE IF NOT EXISTS artifacts (attempt INTEGER NOT NULL, name TEXT NOT NULL, key TEXT NOT NULL,
     upload_id TEXT NOT NULL, size INTEGER NOT NULL, stored TEXT, PRIMARY KEY (attempt, name));
   CREATE TABLE IF NOT EXISTS artifact_parts (attempt INTEGER NOT NULL, name TEXT NOT NULL,
     number INTEGER NOT NULL, etag TEXT NOT NULL, sha256 TEXT NOT NULL, size INTEGER NOT NULL,
     PRIMARY KEY (attempt, name, number))`,
];

type Row = UploadAddress & ArtifactOf & { size: number; stored: StoredArtifact | undefined };

/**
 * Uploads of a build's artifacts, separate for each attempt. R2 cannot list the parts it has, so only the record here
 * counts. A part is recorded once its SHA-256 has been checked, and a resumed upload continues after the recorded
 * parts.
 */
export class BuildUploads {
  readonly #sql: SqlStorage;
  readonly #blobs: R2Bucket;

  constructor(sql: SqlStorage, blobs: R2Bucket) {
    this.#sql = sql;
    this.#blobs = blobs;
    this.makeTables();
  }

  /** Creates the tables, also after all storage was deleted: a restored database can bring the build back. */
  makeTables(): void {
    bringTables(this.#sql, "artifacts", tables);
  }

  /**
   * Opens an upload, or returns its state. A different size means a different file, so the upload restarts. `size` is 0
   * if it is not known yet.
   */
  async open(uid: string, of: ArtifactOf, size = 0): Promise<UploadState | UploadRefused> {
    if (size > maxParts * partBytes) return { refused: "wrong_part" };
    const known = this.#find(of);
    if (known?.size === size) return this.#stateOf(known);
    if (known) await this.#discard(known);
    const { key, uploadId } = await openUpload(this.#blobs, artifactKey(uid, of.attempt, of.name));
    // Two calls at the same time open two uploads; the first row wins.
    const other = this.#find(of);
    if (other) await abortUpload(this.#blobs, { key, uploadId });
    else {
      const values = [of.attempt, of.name, key, uploadId, size];
      this.#sql.exec("INSERT INTO artifacts (attempt, name, key, upload_id, size) VALUES (?, ?, ?, ?, ?)", ...values);
    }
    return this.#stateOf(other ?? { ...of, key, uploadId, size, stored: undefined });
  }

  /** Whether the upload was opened before. */
  has(of: ArtifactOf): boolean {
    return this.#find(of) !== undefined;
  }

  /** Keeps an artifact that another build has uploaded. Its blob is not this build's to delete. */
  keepShared({ attempt, name }: ArtifactOf, stored: StoredArtifact): void {
    const values = [attempt, name, stored.key, notUploaded, stored.size, JSON.stringify(stored)];
    const columns = "(attempt, name, key, upload_id, size, stored)";
    this.#sql.exec(`INSERT OR IGNORE INTO artifacts ${columns} VALUES (?, ?, ?, ?, ?, ?)`, ...values);
  }

  /** Returns the upload address for a part; `recorded` if the same part is already stored. */
  expect(of: ArtifactOf, part: Omit<RecordedPart, "etag">): UploadAddress | { recorded: true } | UploadRefused {
    const upload = this.#find(of);
    if (!upload || upload.stored) return { refused: "no_upload" };
    if (!fits(upload, part)) return { refused: "wrong_part" };
    const known = this.#parts(of).find(({ number }) => number === part.number);
    if (known?.sha256 === part.sha256) return { recorded: true };
    // R2 keeps only the latest part with a number, and the record must not outlive its bytes.
    this.#sql.exec(`DELETE FROM artifact_parts WHERE ${ofOne} AND number = ?`, of.attempt, of.name, part.number);
    return { key: upload.key, uploadId: upload.uploadId };
  }

  record({ attempt, name }: ArtifactOf, { number, etag, sha256, size }: RecordedPart): void {
    const values = [attempt, name, number, etag, sha256, size];
    const columns = "(attempt, name, number, etag, sha256, size)";
    this.#sql.exec(`INSERT OR REPLACE INTO artifact_parts ${columns} VALUES (?, ?, ?, ?, ?, ?)`, ...values);
  }

  /** Joins the parts if they are all here and match the digests that the agent states. Repeating it is safe. */
  async complete(of: ArtifactOf, stated: CompleteUpload): Promise<{ completed: true } | UploadRefused> {
    const upload = this.#find(of);
    if (!upload) return { refused: "no_upload" };
    const { partsDigest, ...file } = stated;
    if (upload.stored) return upload.stored.sha256 === file.sha256 ? { completed: true } : { refused: "wrong_digest" };
    const parts = this.#parts(of);
    const received = parts.reduce((sum, { size }) => sum + size, 0);
    if (received !== stated.size || (upload.size !== 0 && stated.size !== upload.size))
      return { refused: "incomplete" };
    if (!parts.every((part) => fits(file, part))) return { refused: "wrong_part" };
    if ((await digestOfParts(parts)) !== partsDigest) return { refused: "wrong_digest" };
    await completeUpload(this.#blobs, upload, parts);
    const stored: StoredArtifact = { ...file, key: upload.key };
    this.#sql.exec(`UPDATE artifacts SET stored = ? WHERE ${ofOne}`, JSON.stringify(stored), of.attempt, of.name);
    return { completed: true };
  }

  /** All artifacts of an attempt; undefined while a required one is missing or incomplete. */
  findArtifacts(attempt: number): Artifacts | undefined {
    const [image, files, index] = artifactNames.map((name) => this.#find({ attempt, name })?.stored);
    if (!image || !files || !index) return undefined;
    const more = optionalArtifacts.flatMap((name) => {
      const stored = this.#find({ attempt, name })?.stored;
      return stored ? [[name, stored] as const] : [];
    });
    return { image, files, "files-index": index, ...Object.fromEntries(more) };
  }

  /** A complete artifact. */
  findStored(of: ArtifactOf): StoredArtifact | undefined {
    return this.#find(of)?.stored;
  }

  /** Removes from R2 what other attempts have sent, complete or not. */
  async discardAllBut(attempt: number | null): Promise<void> {
    const strays = this.#all().filter((upload) => upload.attempt !== attempt);
    for (const upload of strays) await this.#discard(upload);
  }

  /** Aborts what is incomplete. The caller deletes the complete artifacts, which other builds may share. */
  async abortIncomplete(): Promise<void> {
    for (const upload of this.#all().filter(({ stored }) => !stored)) await this.#discard(upload);
  }

  async #discard(upload: Row): Promise<void> {
    if (upload.uploadId !== notUploaded) await abortUpload(this.#blobs, upload);
    this.#sql.exec(`DELETE FROM artifacts WHERE ${ofOne}`, upload.attempt, upload.name);
    this.#sql.exec(`DELETE FROM artifact_parts WHERE ${ofOne}`, upload.attempt, upload.name);
  }

  #stateOf(upload: Row): UploadState {
    const parts = this.#parts(upload).map(({ number, sha256, size }) => ({ number, sha256, size }));
    return { partBytes, parts, complete: upload.stored !== undefined };
  }

  #find(of: ArtifactOf): Row | undefined {
    return this.#all().find(({ attempt, name }) => attempt === of.attempt && name === of.name);
  }

  #all(): Row[] {
    const rows = this.#sql.exec<{
      attempt: number;
      name: ArtifactName;
      key: string;
      upload_id: string;
      size: number;
      stored: string | null;
    }>("SELECT * FROM artifacts");
    return [...rows].map(({ upload_id: uploadId, stored, ...row }) => {
      const complete: StoredArtifact | undefined = stored === null ? undefined : JSON.parse(stored);
      return { ...row, uploadId, stored: complete };
    });
  }

  #parts({ attempt, name }: ArtifactOf): RecordedPart[] {
    const rows = this.#sql.exec<{ number: number; etag: string; sha256: string; size: number }>(
      `SELECT number, etag, sha256, size FROM artifact_parts WHERE ${ofOne} ORDER BY number`,
      attempt,
      name,
    );
    return [...rows];
  }
}

const ofOne = "attempt = ? AND name = ?";

/**
 * Whether a part fits the file: all parts but the last have the same size, as R2 requires. Without the file's size, it
 * is unknown which part is the last.
 */
function fits(file: { size: number }, { number, size }: Pick<RecordedPart, "number" | "size">): boolean {
  if (file.size === 0) return number <= maxParts && size <= partBytes;
  const count = Math.ceil(file.size / partBytes);
  return number <= count && size === (number < count ? partBytes : file.size - (count - 1) * partBytes);
}
