import type { StartedTestdrive } from "#domain/testdrives/testdrive";
import type { Testdrive } from "#storage/testdrives";
import type { XmlFields } from "#wire/xml";

/** The short form of the list (wire.md §2.15). `webUrl` is ours, and only where the machine has a network. */
export const listedTestdriveFields = ({ id, state, buildId }: Testdrive, webUrl: string | undefined): XmlFields => ({
  id,
  state,
  build_id: buildId,
  web_url: webUrl,
});

/** How to reach a new session. Without an address for VNC clients: this service's host and port 0. */
export function startedTestdriveFields(
  { testdrive, vnc, password }: StartedTestdrive,
  baseUrl: string,
  webUrl?: string,
): XmlFields {
  const { host, port } = vnc ?? { host: new URL(baseUrl).hostname, port: 0 };
  return {
    id: testdrive.id,
    state: "new",
    build_id: testdrive.buildId,
    url: `${baseUrl}/testdrive/${testdrive.id}/${testdrive.pageToken}`,
    server: { vnc: { host, port, password } },
    web_url: webUrl,
  };
}
