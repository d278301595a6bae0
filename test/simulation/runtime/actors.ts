import { AsyncLocalStorage } from "node:async_hooks";
import { clock } from "./clock.ts";

export type ActorKind = "agent" | "object" | "request" | "user";

/** A unit that runs until it dies: a process of an agent, an object in memory, a request of the Worker. */
export class Actor {
  readonly name: string;
  readonly kind: ActorKind;
  isDead = false;
  /** Undoes writes that have not left the actor. Only objects have such writes. */
  undo: (() => void) | undefined;
  readonly #mourners = new Set<() => void>();

  constructor(kind: ActorKind, name: string) {
    this.kind = kind;
    this.name = name;
  }

  /** Ends it immediately: none of its code runs again. */
  die(): void {
    if (this.isDead) return;
    this.isDead = true;
    for (const mourn of this.#mourners) mourn();
    this.#mourners.clear();
  }

  onDeath(mourn: () => void): void {
    if (this.isDead) mourn();
    else this.#mourners.add(mourn);
  }

  /** Runs work as this actor. Rejects with `lost` if the actor dies before the work has ended. */
  async do<T>(work: () => T | Promise<T>, lost: () => Error): Promise<T> {
    return await new Promise<T>((resolve, reject) => {
      const mourn = () => reject(lost());
      this.onDeath(mourn);
      void scope.run(this, async () => {
        try {
          resolve(await work());
        } catch (error) {
          reject(error);
        } finally {
          this.#mourners.delete(mourn);
        }
      });
    });
  }
}

const scope = new AsyncLocalStorage<Actor>();

/** The actor whose code runs. */
export const currentActor = (): Actor | undefined => scope.getStore();

export const asActor = <T>(actor: Actor, work: () => T): T => scope.run(actor, work);

/** Runs work as the platform: outside every actor and request. */
export const asPlatform = AsyncLocalStorage.snapshot();

/** The outcome of a call between actor and storage, or between actors. */
export type Fate = "dies before" | "dies after" | "fails" | "answer lost";

/** The world's decisions about calls: their duration, and their faults. */
export interface Fates {
  latencyMs(what: string): number;
  fateOf(actor: Actor | undefined, what: string): Fate | undefined;
}

let fates: Fates = { latencyMs: () => 1, fateOf: () => undefined };

export const setFates = (given: Fates): void => void (fates = given);

const never = <T>(): Promise<T> => new Promise(() => {});

/**
 * Every call that leaves an actor passes through here. It takes time, and it is where an actor dies or a call fails.
 * The writes of an object since its last call are kept or lost together, as the platform guarantees.
 */
export async function cross<T>(what: string, act: () => T | Promise<T>): Promise<T> {
  const me = currentActor();
  if (me?.isDead) return await never();
  const fate = fates.fateOf(me, what);
  if (fate === "dies before") {
    me?.undo?.();
    me?.die();
    return await never();
  }
  await clock.sleep(fates.latencyMs(what));
  if (me?.isDead) {
    // The caller may die while the call is in progress.
    if (Math.random() < 0.5) await act();
    return await never();
  }
  if (fate === "fails") throw new Error(`simulated: ${what} failed`);
  const result = await act();
  if (fate === "dies after") me?.die();
  if (!me?.isDead && fate !== "answer lost") return result;
  dropSocket(result);
  if (me?.isDead) return await never();
  throw new Error(`simulated: the answer of ${what} was lost`);
}

/** The platform closes a socket whose answer did not reach the caller. */
function dropSocket(answer: unknown): void {
  const hasSocket = typeof answer === "object" && answer !== null && "webSocket" in answer;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an AnswerWithSocket, whose module imports this one
  if (hasSocket) (answer.webSocket as { close(code: number): void } | undefined)?.close(1006);
}
