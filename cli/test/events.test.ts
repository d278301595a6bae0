/** `kiln events`: what happened to the objects of an account. */
import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { eventNames, type EventName } from "../../src/model/event-names.ts";
import { busy } from "./support/service.ts";
import { signedInForEachTest } from "./support/signed-in.ts";

const here = signedInForEachTest();

const build = { build: { id: 31, name: "Kiosk", version: "0.0.1", image_type: "iso", message: "A message" } };
const testdrive = { testdrive: { id: 3, build_id: 31, message: "A message" } };
const image = { build_id: 31, name: "Kiosk", version: "0.0.1", image_type: "iso" };
const lineOfBuild = "build 31 of Kiosk (iso, 0.0.1): A message";
const lineOfTestdrive = "testdrive 3 of build 31: A message";

/** The subject of each event, and its line. */
const events: Record<EventName, [subject: object, line: string]> = {
  "build.queued": [build, lineOfBuild],
  "build.started": [build, lineOfBuild],
  "build.finished": [build, lineOfBuild],
  "build.failed": [build, lineOfBuild],
  "build.cancelled": [build, lineOfBuild],
  "testdrive.started": [testdrive, lineOfTestdrive],
  "testdrive.ended": [testdrive, lineOfTestdrive],
  "version.published": [{ version: { name: "Kiosk", version: "0.0.1" } }, "Kiosk 0.0.1"],
  "channel.moved": [{ channel: { name: "Kiosk", channel: "stable", version: "0.0.2" } }, "Kiosk: stable is 0.0.2 now"],
  "image.outdated": [
    { image: { ...image, newer: 2, security: 1, packages: ["openssl"] } },
    "Kiosk (iso, 0.0.1): 2 newer packages, 1 security update",
  ],
  "image.affected": [
    { image: { ...image, fixed: 3, exploited: 1, advisories: ["CVE-2026-1"] } },
    "Kiosk (iso, 0.0.1): updates fix 3 advisories, 1 of them exploited",
  ],
};

const sent = (id: number, event: string, subject: object): string =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify({ created_at: "2026-11-21T09:00:00.000Z", ...subject })}\n\n`;
const streamOf = (text: string) => (_request: unknown, response: ServerResponse) =>
  void response.writeHead(200, { "content-type": "text/event-stream" }).write(text);

it("prints a line for each event", async () => {
  const all = eventNames.map((name, nth) => sent(nth + 1, name, events[name][0]));
  here.service.answers["/api/v2/user/events"] = streamOf(all.join("") + sent(12, "image.dreamt", { dream: {} }));
  const { code, stdout } = await here.machine.kiln(["events"]);
  const lines = stdout.trimEnd().split("\n");
  expect([code, lines.at(-1)]).toEqual([0, "  12  2026-11-21 09:00  image.dreamt"]);
  expect(lines.slice(0, -1)).toEqual(
    eventNames.map(
      (name, nth) => `${String(nth + 1).padStart(4)}  2026-11-21 09:00  ${name.padEnd(17)}  ${events[name][1]}`,
    ),
  );
});

it("waits for a service that needs longer to answer", async () => {
  const stored = streamOf(sent(1, "build.queued", build));
  here.service.answers["/api/v2/user/events"] = (request, response) =>
    setTimeout(() => stored(request, response), 6_000);
  expect(await here.machine.kiln(["events"])).toMatchObject({ code: 0, stdout: expect.stringContaining(lineOfBuild) });
});

it.each([
  ["is not there", "does not answer", async () => await here.service[Symbol.asyncDispose]()],
  ["stays busy", "The service answered 429", () => void (here.service.answers["/api/v2/user/events"] = busy(3600))],
  [
    "cuts the connection",
    "does not answer",
    () =>
      void (here.service.answers["/api/v2/user/events"] = (_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(sent(1, "build.queued", build), () => response.destroy());
      }),
  ],
])("reports a service that %s", async (_, told, fail) => {
  await fail();
  const ended = await here.machine.kiln(["events"]);
  expect(ended).toMatchObject({ code: 8, stderr: expect.stringContaining(told) });
});
