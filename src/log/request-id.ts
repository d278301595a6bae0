import { AsyncLocalStorage } from "node:async_hooks";
import { RequestId } from "#lib/contract/index";

const scope = new AsyncLocalStorage<string>();

/** The request for which this work is done; undefined: none. */
export const requestIdNow = (): string | undefined => scope.getStore();

/** Does work for a request, here or in another process: everything that it logs or sends has the id. */
export const forRequest = <T>(id: string | undefined, work: () => T): T =>
  id === undefined ? work() : scope.run(id, work);

/** The id that a client gave, if it is one, or a new one. */
export const requestIdOf = (given: string | undefined): string =>
  RequestId.safeParse(given).data ?? crypto.randomUUID();
