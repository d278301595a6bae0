import { claimTestdrive, until } from "../../support/testdrives.ts";

/** A builder agent that claims the testdrive for which a request waits. */
export const agentClaims = (vnc: object | null = null): Promise<unknown> =>
  until(async () => (await (await claimTestdrive(vnc)).json<{ testdrive: unknown }>()).testdrive ?? undefined);
