import type { StartedTestdrive } from "#domain/testdrives/testdrive";
import { arrayOf, fields, group, id, int, oneOf, text, through, url } from "#lib/wire/field";
import { document, type Viewer } from "#lib/wire/shape";

/** A Kiln extension: only a session with `network=on` has it. */
const webUrl = { web_url: url("webUrl", "https://guests.example.org/testdrives/8/Xq3v…/http/").optional() };

/** The short form of the list (compatibility.md, "Testdrives"). */
const listed = fields({
  ...through("testdrive", {
    id: id("id", 8),
    state: oneOf("state", ["running", "new", "ended"]),
    build_id: id("buildId", 31),
  }),
  ...webUrl,
});

export const testdrives = document("Testdrives", "testdrives", arrayOf("testdrive", listed));

/** The address for VNC clients. Without one, it has this service's host and port 0. */
const vnc = fields({
  host: text(({ vnc }: StartedTestdrive, { baseUrl }) => vnc?.host ?? new URL(baseUrl).hostname, "kiln.example.org"),
  port: int(({ vnc }: StartedTestdrive) => vnc?.port ?? 0, 5901),
  password: text("password", "q7rK2mXa"),
});

/** How to reach a new session: its page, and the address for VNC clients. */
export const reached = {
  url: url(pageOf, "https://kiln.example.org/testdrive/8/f0e1…"),
  server: group(fields({ vnc: group(vnc) })),
};

export const testdrive = document(
  "Testdrive",
  "testdrive",
  fields({
    ...through("testdrive", { id: id("id", 8) }),
    state: oneOf(({ testdrive }: StartedTestdrive) => testdrive && "new", ["new"]),
    ...through("testdrive", { build_id: id("buildId", 31) }),
    ...reached,
    ...webUrl,
  }),
);

function pageOf({ testdrive: { id, pageToken } }: StartedTestdrive, { baseUrl }: Viewer): string {
  return `${baseUrl}/testdrive/${id}/${pageToken}`;
}
