import { Refusal } from "#domain/refusal";
import { guestOrigin } from "#domain/testdrives/guest-origin";
import type { Testdrive } from "#storage/testdrives";

type GuestEnv = Pick<Env, "TESTDRIVE_ORIGIN">;

/**
 * The URL of the guest's web server. Undefined if the machine has no network, or if the service has no origin for
 * guests.
 */
export function guestWebUrl(
  env: GuestEnv,
  baseUrl: string,
  { id, webToken }: Pick<Testdrive, "id" | "webToken">,
): string | undefined {
  const origin = guestOrigin(env, baseUrl);
  return webToken === null || origin === undefined ? undefined : `${origin}/testdrives/${id}/${webToken}/http/`;
}

/** Refuses a network if the machine's web pages could not be shown. */
export function checkGuestWeb(env: GuestEnv, baseUrl: string): void {
  if (guestOrigin(env, baseUrl) !== undefined) return;
  const message = `network=on is not possible at ${new URL(baseUrl).host}: guests' web pages need a different host name than the service. Its operator can set TESTDRIVE_ORIGIN.`;
  throw new Refusal("invalid_value", { message });
}
