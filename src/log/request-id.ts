import { AsyncLocalStorage } from "node:async_hooks";
import { RequestId } from "#lib/contract/index";

const scope = new AsyncLocalStorage<string>();

/** The id of the request that this work is done for; undefined if there is none. */
export const requestIdNow = (): string | undefined => scope.getStore();

/** Does work for a request, here or in another process. Everything that it logs or sends has the request's id. */
export const forRequest = <T>(id: string | undefined, work: () => T): T =>
  id === undefined ? work() : scope.run(id, work);

/** The id that a client has sent, if it is valid, or else a new one. */
export const requestIdOf = (given: string | undefined): string =>
  RequestId.safeParse(given).data ?? crypto.randomUUID();
