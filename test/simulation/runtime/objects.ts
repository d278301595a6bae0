import { Actor, asActor, asPlatform, cross } from "./actors.ts";
import { clock } from "./clock.ts";
import { ObjectStorage } from "./object-storage.ts";
import type { SocketEnd } from "./sockets.ts";

/** The class that objects extend, in place of the one in `cloudflare:workers`. */
export class DurableObject {
  readonly ctx: unknown;
  readonly env: unknown;
  constructor(ctx: unknown, env: unknown) {
    this.ctx = ctx;
    this.env = env;
  }
}

type Methods = Record<string, ((...given: unknown[]) => unknown) | undefined>;
export type ObjectClass = new (ctx: never, env: never) => object;

const maxAlarmRetries = 6;
const lost = () => new Error("simulated: the object was lost");

/** An existing object: its storage, and its instance while it is in memory. */
export class Existing {
  readonly name: string;
  readonly kind: string;
  readonly storage: ObjectStorage;
  readonly sockets = new Set<SocketEnd>();
  #instance: { actor: Actor; object: Methods } | undefined;
  #failures = 0;
  readonly #create: (ctx: object) => object;

  constructor(kind: string, name: string, create: (ctx: object) => object) {
    this.kind = kind;
    this.name = name;
    this.#create = create;
    this.storage = new ObjectStorage(() => this.#schedule());
  }

  get actor(): Actor | undefined {
    return this.#instance?.actor;
  }

  /** Calls a method of the instance. Creates the instance if there is none. */
  async deliver(method: string, given: unknown[]): Promise<unknown> {
    const { actor, object } = this.#loaded();
    return await actor.do(() => object[method]?.(...given), lost);
  }

  /** Runs the alarm now, even if it is too early. */
  async ring(): Promise<void> {
    this.storage.takeAlarm();
    try {
      await this.deliver("alarm", []);
      this.#failures = 0;
    } catch {
      this.#failures += 1;
      const isGivenUp = this.#failures > maxAlarmRetries;
      if (!isGivenUp && this.storage.alarm === null) void this.storage.setAlarm(clock.now + 1000 * 2 ** this.#failures);
    }
  }

  #schedule(): void {
    const at = this.storage.alarm;
    if (at === null) return;
    const ring = () => {
      if (this.storage.alarm === at && at <= clock.now) void this.ring();
    };
    asPlatform(() => clock.after(at - clock.now, ring));
  }

  #loaded(): { actor: Actor; object: Methods } {
    if (this.#instance && !this.#instance.actor.isDead) return this.#instance;
    const actor = new Actor("object", `${this.kind} ${this.name.slice(0, 8)}`);
    actor.undo = () => this.storage.rollback();
    const object = asActor(actor, () => this.#create(this.#context()));
    this.#instance = { actor, object: object as Methods };
    return this.#instance;
  }

  #context() {
    return {
      id: { name: this.name, toString: () => this.name },
      storage: this.storage,
      waitUntil: (work: Promise<unknown>) => void work.catch(() => {}),
      acceptWebSocket: (socket: SocketEnd, tags: string[] = []) => {
        socket.accepted = { by: this, tags };
        this.sockets.add(socket);
      },
      getWebSockets: (tag?: string) =>
        [...this.sockets].filter((socket) => tag === undefined || socket.accepted?.tags.includes(tag)),
      getTags: (socket: SocketEnd) => socket.accepted?.tags ?? [],
      setWebSocketAutoResponse: () => {},
      getWebSocketAutoResponseTimestamp: (socket: SocketEnd) => socket.pingedAt,
    };
  }
}

/** The objects of one class, like the Worker's binding. */
export class Namespace {
  readonly existing = new Map<string, Existing>();
  readonly #kind: string;
  readonly #create: (ctx: object) => object;

  constructor(kind: string, ofClass: ObjectClass, env: object) {
    this.#kind = kind;
    this.#create = (ctx) => new ofClass(ctx as never, env as never);
  }

  getByName(name: string): object {
    return new Proxy({}, { get: (_, method) => (method === "then" ? undefined : this.#method(name, String(method))) });
  }

  find(name: string): Existing {
    const found = this.existing.get(name) ?? new Existing(this.#kind, name, this.#create);
    this.existing.set(name, found);
    return found;
  }

  reset(): void {
    for (const { storage } of this.existing.values()) storage.close();
    this.existing.clear();
  }

  #method(name: string, method: string) {
    return async (...given: unknown[]): Promise<unknown> => {
      const isFetch = method === "fetch";
      const sent = isFetch ? [new Request(...(given as [string]))] : structuredClone(given);
      return await cross(`${this.#kind}.${method}`, async () => {
        const answer = await this.find(name).deliver(method, sent);
        return isFetch ? answer : structuredClone(answer);
      });
    };
  }
}
