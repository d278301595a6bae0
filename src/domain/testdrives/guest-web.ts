import type { Testdrive } from "#storage/testdrives";

/** Where visitors find the web server of a testdrive's guest; undefined for a machine without a network. */
export function guestWebUrl(
  { TESTDRIVE_ORIGIN: origin }: Pick<Env, "TESTDRIVE_ORIGIN">,
  baseUrl: string,
  { id, webToken }: Pick<Testdrive, "id" | "webToken">,
): string | undefined {
  if (webToken === null) return undefined;
  return `${origin === "" ? baseUrl : origin.replace(/\/+$/, "")}/testdrives/${id}/${webToken}/http/`;
}
