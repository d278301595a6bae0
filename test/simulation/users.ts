import { makeOnce } from "#domain/accounts/idempotency";
import { cancelBuild } from "#domain/builds/build";
import { addFrozen, slotsOf, wakeNew } from "#domain/builds/start";
import { Refusal } from "#domain/refusal";
import { Configuration } from "#lib/configuration/stored";
import type { FrozenInput } from "#lib/contract/index";
import { addAccount, type Account } from "#storage/accounts";
import type { Appliance } from "#storage/appliances";
import { findBuildByUid, isUnfinished, type Build } from "#storage/builds";
import { listBuildsOfVersion } from "#storage/builds-of-appliance";
import type { Database } from "#storage/db";
import { appliances } from "#storage/schema";
import { settingsWith } from "../support/settings.ts";
import { Actor } from "./runtime/actors.ts";
import { clock } from "./runtime/clock.ts";
import { randomUUID } from "./runtime/globals.ts";
import type { Service } from "./runtime/service.ts";
import { Importers } from "./importers.ts";
import { Mirrors } from "./mirrors.ts";
import { Publishers } from "./publishers.ts";
import { Uploaders } from "./uploads.ts";
import { Viewers } from "./viewers.ts";
import { Subscribers } from "./webhooks.ts";
import { witness } from "./witness.ts";

const accountCount = 3;
const appliancesOfEach = 4;
const maxTries = 40;
/** One in this many users does not repeat a failed request. */
const impatient = 4;

/** The actions of users, by the name of the step. */
export const requests: Record<string, (users: Users, pick: number) => void> = {
  "start a build": (users, pick) => users.start(pick),
  "start a build again": (users, pick) => users.startAgain(pick),
  "cancel a build": (users, pick) => users.cancel(pick),
  "start a testdrive": ({ viewers }, pick) => viewers.start(pick),
  "stop a testdrive": ({ viewers }, pick) => viewers.stop(pick),
  "upload a file": (users, pick) => users.upload(pick),
  "delete a file": ({ uploaders }, pick) => uploaders.delete(pick),
  "add a webhook": (users, pick) => users.subscribe(pick),
  "publish a version": (users, pick) => users.publishers.start(users.accounts, pick),
  "add a repository": (users, pick) => users.importers.start(users.accountFor(pick).id, pick),
  "a mirror changes": ({ importers }, pick) => importers.publish(pick),
  "take a version out of the gallery": (users, pick) => users.publishers.stop(users.accounts, pick),
};

/** Repeats a request until there is an answer. The request returns what its client makes of the answer. */
export type Insist = (prepare: () => () => Promise<() => void>) => void;

/** The users who start and cancel builds. Most repeat a request whose answer is lost. */
export class Users {
  readonly #service: Service;
  readonly #actor = new Actor("user", "a user");
  readonly viewers: Viewers;
  readonly uploaders: Uploaders;
  readonly subscribers: Subscribers;
  readonly publishers: Publishers;
  readonly importers: Importers;
  readonly accounts: Account[] = [];
  readonly #appliances: Appliance[] = [];
  #next = 0;
  /** Requests that have no final answer yet. */
  waiting = 0;

  constructor(service: Service) {
    this.#service = service;
    const insist: Insist = (prepare) => this.#insist(prepare);
    this.viewers = new Viewers(service, insist);
    this.uploaders = new Uploaders(service, insist);
    this.subscribers = new Subscribers(service, insist);
    this.publishers = new Publishers(service, insist);
    this.importers = new Importers(service, insist);
  }

  async prepare(db: Database): Promise<void> {
    for (let n = 0; n < accountCount; n += 1) {
      const account = await addAccount(db, { ...person(n), createdAt: new Date() });
      if (!account) throw new Error("there is no account");
      this.accounts.push(account);
      for (let nth = 0; nth < appliancesOfEach; nth += 1) this.#appliances.push(await addAppliance(db, account.id));
    }
  }

  /** Starts a build of an appliance that has none yet. Some accounts are busier than others. */
  start(pick: number): void {
    const own = this.#appliances.slice(0, pick % 3 === 0 ? undefined : appliancesOfEach);
    const appliance = own[this.#next++ % own.length];
    if (appliance) this.#insist(() => this.#build(appliance, { requestId: randomUUID(), force: false }));
  }

  /** Starts a build that replaces another. */
  startAgain(pick: number): void {
    const appliance = this.#appliances[pick % Math.max(1, this.#next)];
    if (appliance) this.#insist(() => this.#build(appliance, { requestId: randomUUID(), force: true }));
  }

  upload(pick: number): void {
    const appliance = this.#appliances[pick % this.#appliances.length];
    if (appliance) this.uploaders.start(appliance, pick);
  }

  subscribe(pick: number): void {
    this.subscribers.start(this.accountFor(pick), pick);
  }

  accountFor(pick: number): Account {
    const account = this.accounts[pick % this.accounts.length];
    if (!account) throw new Error("there is no account");
    return account;
  }

  /** The service's `fetch`, which reaches its users' servers and mirrors. */
  async fetch(address: string, init: RequestInit): Promise<Response> {
    return await (Mirrors.has(address) ? this.importers.mirrors : this.subscribers).fetch(address, init);
  }

  cancel(pick: number): void {
    const all = this.#service.database.query("SELECT id, account_id FROM builds ORDER BY id");
    const build = all[pick % all.length];
    if (!build) return;
    const [id, accountId] = [Number(build["id"]), Number(build["account_id"])];
    this.#insist(() => async () => {
      await cancelBuild(this.#service, accountId, id);
      return () => {};
    });
  }

  #build(appliance: Appliance, request: { requestId: string; force: boolean }) {
    const { env, db } = this.#service;
    const { accountId, id } = appliance;
    if (accountId === null) throw new Error("a template");
    return async () => {
      const input = frozenInput(appliance);
      const build = await makeOnce(request.requestId, {
        find: (uid) => findBuildByUid(db, uid),
        make: async () => {
          const built: Build[] = request.force ? await listBuildsOfVersion(db, id, appliance.version) : [];
          const replaced = built.filter(isUnfinished);
          const slots = slotsOf(env, {});
          const disk = { needsLvm: false, fileSystem: "ext4" } as const;
          return await addFrozen({ env, db }, { id: accountId }, { request, replaced, slots, input, disk });
        },
      });
      await wakeNew(env, build);
      return () => void witness.accepted.add(build.uid);
    };
  }

  /** Repeats a request until there is an answer. */
  #insist(prepare: () => () => Promise<() => void>): void {
    this.waiting += 1;
    const work = prepare();
    const attempt = async () => {
      const tries = Math.random() * impatient < 1 ? 1 : maxTries;
      for (let nth = 0; nth < tries; nth += 1) {
        try {
          return (await this.#service.invoke("a user's request", work))();
        } catch (error) {
          if (error instanceof Refusal) return;
          await clock.sleep(3_000);
        }
      }
    };
    void this.#actor.do(attempt, () => new Error("gone")).finally(() => (this.waiting -= 1));
  }
}

const configuration = Configuration.parse({
  locale: { keyboardLayout: "english-us", language: "en_US.UTF-8", timezone: "UTC" },
  users: [],
  settings: settingsWith({}),
});

const person = (n: number) => ({
  uid: randomUUID(),
  username: `user${n}`,
  displayName: `user${n}`,
  email: `user${n}@example.org`,
  apiKeyHmac: `hmac${n}`,
  apiKeyCipher: "",
  passwordHash: "",
});

async function addAppliance(db: Database, accountId: number): Promise<Appliance> {
  const at = new Date();
  const [row] = await db
    .insert(appliances)
    .values({
      accountId,
      name: "Kiosk",
      arch: "x86_64",
      baseSystem: "tiny",
      uuid: randomUUID(),
      version: "0.0.1",
      imageType: "oem",
      configuration,
      estimatedRawMb: 1,
      estimatedCompressedMb: 1,
      createdAt: at,
      lastEditedAt: at,
    })
    .returning();
  if (!row) throw new Error("there is no appliance");
  return row;
}

const frozenInput = ({ id, name, version, arch }: Appliance): FrozenInput => ({
  formatVersion: 1,
  appliance: { id, name, version, arch },
  imageType: "oem",
  imageName: `${name}.${arch}-${version}.oem`,
  repositories: [],
  packages: [
    {
      name: "busybox",
      epoch: 0,
      version: "1.35.0",
      release: "1",
      arch: "x86_64",
      repository: "r1",
      location: "busybox.rpm",
      size: 1,
      checksum: { type: "sha256", value: "a".repeat(64) },
    },
  ],
  selection: { packages: [{ name: "busybox" }], patterns: [] },
  description: {},
  sourceDate: 0,
  writtenBy: "kiln",
});
