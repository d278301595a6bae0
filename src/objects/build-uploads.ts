import { partBytes, type CompleteUpload, type UploadState } from "#contract/index";
import { abortUpload, completeUpload, digestOfParts, openUpload, type UploadAddress } from "#storage/artifacts";
import { imageKey } from "#storage/blobs";

export interface RecordedPart {
  number: number;
  etag: string;
  sha256: string;
  size: number;
}

/** The image of an attempt, once its upload is complete. */
export type Image = Omit<CompleteUpload, "partsDigest"> & { key: string };

export interface UploadRefused {
  refused: "no_upload" | "wrong_part" | "incomplete" | "wrong_digest";
}

// R2's limit.
const maxParts = 10_000;

type Row = UploadAddress & { attempt: number; size: number; image: Image | undefined };

/**
 * Uploads of a build's image, one per attempt. R2 cannot list the parts it has, so the record here is the truth: a
 * part counts when its SHA-256 was checked, and a resumed upload goes on behind what is recorded.
 */
export class BuildUploads {
  readonly #sql: SqlStorage;
  readonly #blobs: R2Bucket;

  constructor(sql: SqlStorage, blobs: R2Bucket) {
    this.#sql = sql;
    this.#blobs = blobs;
    sql.exec(`CREATE TABLE IF NOT EXISTS uploads (attempt INTEGER PRIMARY KEY, key TEXT NOT NULL,
      upload_id TEXT NOT NULL, size INTEGER NOT NULL, image TEXT)`);
    sql.exec(`CREATE TABLE IF NOT EXISTS parts (attempt INTEGER NOT NULL, number INTEGER NOT NULL, etag TEXT NOT NULL,
      sha256 TEXT NOT NULL, size INTEGER NOT NULL, PRIMARY KEY (attempt, number))`);
  }

  /** Opens the attempt's upload, or says how far it is. Another size is another file: it starts anew. */
  async open(buildId: number, attempt: number, size: number): Promise<UploadState | UploadRefused> {
    if (size > maxParts * partBytes) return { refused: "wrong_part" };
    const known = this.#find(attempt);
    if (known?.size === size) return this.#stateOf(known);
    if (known) await this.#discard(known);
    const address = await openUpload(this.#blobs, imageKey(buildId, attempt));
    // Two calls at once open two uploads; the first row stands.
    const other = this.#find(attempt);
    if (other) await abortUpload(this.#blobs, address);
    else this.#sql.exec("INSERT INTO uploads VALUES (?, ?, ?, ?, NULL)", attempt, address.key, address.uploadId, size);
    return this.#stateOf(other ?? { ...address, attempt, size, image: undefined });
  }

  /** Where a part goes; `recorded` when the very same one is here already. */
  expect(attempt: number, part: Omit<RecordedPart, "etag">): UploadAddress | { recorded: true } | UploadRefused {
    const upload = this.#find(attempt);
    if (!upload || upload.image) return { refused: "no_upload" };
    if (part.size !== sizeOfPart(upload.size, part.number)) return { refused: "wrong_part" };
    const known = this.#parts(attempt).find(({ number }) => number === part.number);
    if (known?.sha256 === part.sha256) return { recorded: true };
    // R2 keeps the last part that it got under a number: the record must not outlive its bytes.
    this.#sql.exec("DELETE FROM parts WHERE attempt = ? AND number = ?", attempt, part.number);
    return { key: upload.key, uploadId: upload.uploadId };
  }

  record(attempt: number, { number, etag, sha256, size }: RecordedPart): void {
    this.#sql.exec("INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?, ?)", attempt, number, etag, sha256, size);
  }

  /** Joins the parts, when they are all here and are those that the agent meant. Saying it twice is fine. */
  async complete(attempt: number, stated: CompleteUpload): Promise<{ completed: true } | UploadRefused> {
    const upload = this.#find(attempt);
    if (!upload) return { refused: "no_upload" };
    const { partsDigest, ...image } = stated;
    if (upload.image) return upload.image.sha256 === image.sha256 ? { completed: true } : { refused: "wrong_digest" };
    const parts = this.#parts(attempt);
    const received = parts.reduce((sum, { size }) => sum + size, 0);
    if (received !== upload.size || stated.size !== upload.size) return { refused: "incomplete" };
    if ((await digestOfParts(parts)) !== partsDigest) return { refused: "wrong_digest" };
    await completeUpload(this.#blobs, upload, parts);
    const row: Image = { ...image, key: upload.key };
    this.#sql.exec("UPDATE uploads SET image = ? WHERE attempt = ?", JSON.stringify(row), attempt);
    return { completed: true };
  }

  /** The image of an attempt whose upload is complete. */
  findImage(attempt: number): Image | undefined {
    return this.#find(attempt)?.image;
  }

  /** Removes from R2 what other attempts have sent, complete or not. */
  async discardAllBut(attempt: number | null): Promise<void> {
    const strays = this.#all().filter((upload) => upload.attempt !== attempt);
    for (const upload of strays) await this.#discard(upload);
  }

  async #discard(upload: Row): Promise<void> {
    await abortUpload(this.#blobs, upload);
    this.#sql.exec("DELETE FROM uploads WHERE attempt = ?", upload.attempt);
    this.#sql.exec("DELETE FROM parts WHERE attempt = ?", upload.attempt);
  }

  #stateOf({ attempt, image }: Row): UploadState {
    const parts = this.#parts(attempt).map(({ number, sha256, size }) => ({ number, sha256, size }));
    return { partBytes, parts, complete: image !== undefined };
  }

  #find(attempt: number): Row | undefined {
    return this.#all().find((upload) => upload.attempt === attempt);
  }

  #all(): Row[] {
    const rows = this.#sql.exec<{
      attempt: number;
      key: string;
      upload_id: string;
      size: number;
      image: string | null;
    }>("SELECT * FROM uploads");
    return [...rows].map(({ attempt, key, upload_id: uploadId, size, image }) => {
      const complete: Image | undefined = image === null ? undefined : JSON.parse(image);
      return { attempt, key, uploadId, size, image: complete };
    });
  }

  #parts(attempt: number): RecordedPart[] {
    const rows = this.#sql.exec<{ number: number; etag: string; sha256: string; size: number }>(
      "SELECT number, etag, sha256, size FROM parts WHERE attempt = ? ORDER BY number",
      attempt,
    );
    return [...rows];
  }
}

/** What a part must have: all but the last are equal, which is R2's rule. Undefined: there is no such part. */
function sizeOfPart(size: number, number: number): number | undefined {
  const count = Math.ceil(size / partBytes);
  if (number > count) return undefined;
  return number < count ? partBytes : size - (count - 1) * partBytes;
}
