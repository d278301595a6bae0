import { quotaBytes, quotaExceeded, type QuotaEnv } from "#domain/accounts/quota";
import type { Services } from "#domain/services";
import { deleteExpiredReservations, endReservation, reserve } from "#storage/reservations";

/** The most that is reserved beyond the bytes that have arrived. */
const aheadBytes = 8 * 2 ** 20;
/** About the time after which the sweep removes an uploaded blob without a row. */
const validMs = 2 * 60 * 60_000;
const renewedMs = validMs / 2;
const forgottenAtOnce = 1000;

/** An upload that is about to be stored. */
export interface Arrival {
  accountId: number;
  /** The blob's id; by default, a new one. */
  blobId?: string;
  /** The size of the content that the upload will replace. */
  replacedBytes?: number | undefined;
  /** The approximate size. Absent or 0 if it is unknown. */
  expectedBytes?: number | undefined;
}

/**
 * A reservation in the disk quota for a blob that no row names yet. The statement that writes the blob's row ends the
 * reservation, or else the sweep does.
 */
export class Room {
  readonly blobId: string;
  readonly #services: Services<QuotaEnv>;
  readonly #accountId: number;
  readonly #mostBytes: number;
  readonly #expectedBytes: number;
  #heldBytes = 0;
  #renewAt = 0;

  constructor(
    services: Services<QuotaEnv>,
    { accountId, blobId = crypto.randomUUID(), expectedBytes = 0 }: Arrival,
    mostBytes: number,
  ) {
    this.blobId = blobId;
    this.#services = services;
    this.#accountId = accountId;
    this.#mostBytes = mostBytes;
    this.#expectedBytes = expectedBytes;
  }

  /** Makes sure that at least this much is reserved in total. */
  async hold(bytes: number): Promise<void> {
    if (bytes <= this.#heldBytes && Date.now() < this.#renewAt) return;
    const ahead = Math.min(2 * this.#heldBytes, this.#heldBytes + aheadBytes);
    await this.#reserve(bytes, Math.max(bytes, ahead, this.#expectedBytes));
  }

  /** Releases everything above this size. */
  async trim(bytes: number): Promise<void> {
    await this.#reserve(bytes, bytes);
  }

  async #reserve(leastBytes: number, bytes: number): Promise<void> {
    const now = Date.now();
    const row = { blobId: this.blobId, accountId: this.#accountId, bytes, expiresAt: new Date(now + validMs) };
    const held = await reserve(this.#services.db, row, { leastBytes, quotaBytes: this.#mostBytes });
    if (held === undefined) throw quotaExceeded();
    this.#heldBytes = held;
    this.#renewAt = now + renewedMs;
  }
}

/**
 * Stores an upload and reserves room while it arrives, so that the account's simultaneous uploads together stay within
 * the quota. If it fails, the room is released.
 */
export async function withRoom<T>(
  services: Services<QuotaEnv>,
  arrival: Arrival,
  store: (room: Room) => Promise<T>,
): Promise<T> {
  const mostBytes = (arrival.replacedBytes ?? 0) + (await quotaBytes(services, arrival.accountId));
  const room = new Room(services, arrival, mostBytes);
  try {
    return await store(room);
  } catch (error) {
    await endReservation(services.db, room.blobId);
    throw error;
  }
}

/** A chore of the sweep: deletes reservations that have expired. They no longer count anyway. */
export const forgetReservations = ({ db }: Pick<Services, "db">, now: number): Promise<void> =>
  deleteExpiredReservations(db, new Date(now), forgottenAtOnce);
