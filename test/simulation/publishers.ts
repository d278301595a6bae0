import { publish, unpublish } from "#domain/gallery/publish";
import { Refusal } from "#domain/refusal";
import type { Account } from "#storage/accounts";
import { randomUUID } from "./runtime/globals.ts";
import type { Service } from "./runtime/service.ts";
import type { Insist } from "./users.ts";

interface Image {
  accountId: number;
  applianceId: number;
  version: string;
}

/** The users who publish their images. */
export class Publishers {
  readonly #service: Service;
  readonly #insist: Insist;
  /** Publications that their users have seen succeed, by uuid. */
  readonly accepted = new Set<string>();
  /** Appliances whose users have requested the removal of a version from the gallery. */
  readonly withdrawn = new Set<number>();
  /** The appliances of requests to publish, with the number of requests for each. */
  readonly #asked = new Map<number, number>();
  /** The violations. */
  readonly faults: string[] = [];

  constructor(service: Service, insist: Insist) {
    this.#service = service;
    this.#insist = insist;
  }

  /** Publishes an image as soon as there is one. */
  start(accounts: readonly Account[], pick: number): void {
    const requestId = randomUUID();
    let image: Image | undefined;
    this.#insist(() => async () => {
      image ??= this.#imageFor(pick);
      const { accountId, applianceId, version } = image;
      const account = accounts.find(({ id }) => id === accountId);
      if (!account) throw new Error("there is no such account");
      const request = { applianceId, version, releaseNotes: "", baseUrl: "http://kiln", requestId };
      try {
        const { uuid } = await publish(this.#service, account, request);
        return () => void this.accepted.add(uuid);
      } catch (error) {
        if (error instanceof Refusal && error.code === "version_published") this.#refused(applianceId);
        throw error;
      }
    });
  }

  /** Removes a version from the gallery. */
  stop(accounts: readonly Account[], pick: number): void {
    const all = this.#service.database.query("SELECT appliance_id, account_id, version FROM publications ORDER BY id");
    const row = all[pick % all.length];
    const account = accounts.find(({ id }) => id === row?.["account_id"]);
    if (!row || !account) return;
    const applianceId = Number(row["appliance_id"]);
    this.withdrawn.add(applianceId);
    this.#insist(() => async () => {
      await unpublish(this.#service.db, account, { applianceId, version: String(row["version"]) });
      return () => {};
    });
  }

  #imageFor(pick: number): Image {
    const images = this.#service.database.query(
      "SELECT DISTINCT account_id, appliance_id, version FROM builds WHERE status = 'finished' ORDER BY id",
    );
    const row = images[pick % images.length];
    if (!row) throw new Error("there is no image yet");
    const applianceId = Number(row["appliance_id"]);
    this.#asked.set(applianceId, (this.#asked.get(applianceId) ?? 0) + 1);
    return { accountId: Number(row["account_id"]), applianceId, version: String(row["version"]) };
  }

  /** Only another request can have published the version. */
  #refused(applianceId: number): void {
    if (this.#asked.get(applianceId) === 1) this.faults.push(`appliance ${applianceId}: its only request is refused`);
  }
}
