import { askForWork, until } from "../../support/testdrives.ts";

/** A builder agent that takes the testdrive for which a request waits. */
export const agentClaims = (vnc: object | null = null): Promise<unknown> =>
  until(async () => (await (await askForWork(vnc)).json<{ testdrive: unknown }>()).testdrive ?? undefined);
