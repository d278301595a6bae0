import { createHash } from "node:crypto";
import { deleteFile } from "#domain/contents/overlay-file";
import { Refusal } from "#domain/refusal";
import type { Writing } from "#domain/uploads/finish";
import { receive } from "#domain/uploads/receive";
import { beginUpload, deleteUpload, getResumableUpload } from "#domain/uploads/upload";
import type { Account } from "#storage/accounts";
import type { Appliance } from "#storage/appliances";
import type { ResumableUpload } from "#storage/resumable-uploads";
import { Chance } from "../../scripts/chance.ts";
import { clock } from "./runtime/clock.ts";
import { randomUUID } from "./runtime/globals.ts";
import type { Service } from "./runtime/service.ts";
import type { Insist } from "./users.ts";

/** A file on a client's disk. */
interface ClientFile {
  bytes: Uint8Array<ArrayBuffer>;
  accountId: number;
  chance: Chance;
}

const longestFile = 20_000;
const chunkBytes = 1_500;
const retryMs = 3_000;
const maxTries = 200;

/**
 * The users who upload overlay files in several requests. Their clients ask how much is stored, and send the rest. Some
 * give up before the end.
 */
export class Uploaders {
  readonly #service: Service;
  readonly #insist: Insist;
  /** Uploads that their clients have neither completed nor abandoned. */
  readonly open = new Set<number>();
  /** SHA-256 of the files that clients know as stored, by id. */
  readonly stored = new Map<number, string>();
  /** The violations. */
  readonly faults: string[] = [];

  constructor(service: Service, insist: Insist) {
    this.#service = service;
    this.#insist = insist;
  }

  /** Uploads a file for this appliance. */
  start({ id: applianceId, accountId }: Appliance, pick: number): void {
    if (accountId === null) return;
    const chance = new Chance(pick);
    const length = chance.between(1, longestFile);
    const bytes = Uint8Array.from({ length }, () => chance.between(0, 255));
    const file = { bytes, accountId, chance };
    const metadata = {
      fileName: `${pick}`,
      path: "/srv",
      owner: "root",
      group: "root",
      permissions: 0o644,
      enabled: true,
    };
    const purpose = { applianceId, metadata };
    const requestId = randomUUID();
    this.#insist(() => async () => {
      const upload = await beginUpload(this.#service, { accountId, purpose, length, sentName: undefined, requestId });
      return () => void this.#send(upload, file);
    });
  }

  /** Deletes one of the files. */
  delete(pick: number): void {
    const id = [...this.stored.keys()][pick % Math.max(1, this.stored.size)];
    if (id === undefined) return;
    this.stored.delete(id);
    const [file] = this.#service.database.query(
      `SELECT account_id FROM overlay_files f JOIN appliances a ON a.id = f.appliance_id WHERE f.id = ${id}`,
    );
    this.#insist(() => async () => {
      await deleteFile(this.#service.db, Number(file?.["account_id"]), id);
      return () => {};
    });
  }

  async #send({ id }: ResumableUpload, file: ClientFile): Promise<void> {
    const { accountId, bytes, chance } = file;
    this.open.add(id);
    let acknowledged = 0;
    for (let nth = 0; nth < maxTries && this.open.has(id); nth += 1) {
      try {
        const upload = await this.#ask(() => getResumableUpload(this.#service.db, accountId, id));
        if (upload.offset < acknowledged)
          this.faults.push(`upload ${id} has ${upload.offset} bytes, not ${acknowledged}`);
        if (upload.offset === bytes.byteLength) return this.#finished(upload, file);
        if (chance.between(1, 12) === 1) return await this.#giveUp(upload);
        acknowledged = await this.#ask(async () =>
          receive(await this.#writing(accountId), upload, this.#piece(file, upload.offset)),
        );
      } catch (error) {
        if (error instanceof Refusal && error.reason === "unknown") {
          this.faults.push(`upload ${id} is gone`);
          break;
        }
        await clock.sleep(retryMs);
      }
    }
    this.open.delete(id);
  }

  #finished({ id, madeId }: ResumableUpload, { bytes }: ClientFile): void {
    this.open.delete(id);
    if (madeId === null) this.faults.push(`upload ${id} is complete, and has become nothing`);
    else this.stored.set(madeId, createHash("sha256").update(bytes).digest("hex"));
  }

  /** Half of those who give up delete the upload. */
  async #giveUp(upload: ResumableUpload): Promise<void> {
    this.open.delete(upload.id);
    if (upload.id % 2 === 0) await this.#ask(() => deleteUpload(this.#service, upload)).catch(() => {});
  }

  /** The bytes of one request. Some connections break before the end. */
  #piece({ bytes, chance }: ClientFile, offset: number) {
    const end = chance.between(offset + 1, bytes.byteLength);
    const breaksAt = chance.between(1, 3) === 1 ? chance.between(offset, end) : Infinity;
    let at = offset;
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          await clock.sleep(20);
          if (at >= breaksAt) return controller.error(new Error("simulated: the connection was closed"));
          const next = Math.min(at + chunkBytes, end);
          controller.enqueue(bytes.slice(at, next));
          at = next;
          if (at === end) controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    return { offset, announcedBytes: end - offset, body, chunkMs: 30_000 };
  }

  async #writing(accountId: number): Promise<Writing> {
    const { env, db } = this.#service;
    return { env, db, account: { id: accountId } as Account };
  }

  #ask<T>(work: () => Promise<T>): Promise<T> {
    return this.#service.invoke("an upload", work);
  }
}
