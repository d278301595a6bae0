/** The exit code of a command whose output is not read. */
import { expect, it } from "vitest";
import { run } from "./support/machine.ts";
import { signedInForEachTest } from "./support/signed-in.ts";

const here = signedInForEachTest();

const piped = async (line: string) => {
  const { env, folder: cwd } = here.machine;
  return await run("bash", ["-c", `set -o pipefail; ${line} | true`], { env, input: "", cwd });
};

it("is that of the result if the standard output is closed", async () => {
  const ended = { state: "failed", checks: [], ended_at: "2026-11-21T09:00:00Z" };
  here.service.answers["/api/v2/user/builds/12/checks"] = { check_runs: [ended] };
  expect(await piped("kiln check 12 --last")).toMatchObject({ code: 3 });
});

it("is that of the error if the standard error is closed", async () => {
  here.service.answers["/api/v2/user/builds/12/checks"] = { check_runs: [] };
  expect(await piped("kiln check 12 --last 2>&1")).toMatchObject({ code: 9 });
});

it("ends `events --follow`, which has no end of its own", async () => {
  const event = { created_at: "2026-11-21T09:00:00.000Z", build: { id: 31, name: "Kiosk" } };
  here.service.answers["/api/v2/user/events"] = (_request, response) =>
    void response
      .writeHead(200, { "content-type": "text/event-stream" })
      .write(`id: 1\nevent: build.queued\ndata: ${JSON.stringify(event)}\n\n`);
  expect(await piped("kiln events --follow --json")).toMatchObject({ code: 0, stderr: "" });
});
