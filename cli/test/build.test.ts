import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { run, type Machine } from "./support/machine.ts";
import { busy, busyOnce, type StandIn } from "./support/service.ts";
import { signedInMachine } from "./support/signed-in.ts";

const user = "/api/v2/user";
let machine: Machine;
let service: StandIn;

const build = (id: number, type: string, more: object = {}) => ({
  id,
  state: "running",
  percent: 10,
  time_elapsed: 3,
  message: "Creating the image",
  version: "0.0.2",
  image_type: type,
  ...more,
});

/** Returns a log as events, or as text. */
const logOf =
  (events: string[], text = "") =>
  ({ headers }: { headers: { accept?: string | undefined } }, response: ServerResponse) =>
    headers.accept?.startsWith("text/event-stream")
      ? response.writeHead(200, { "content-type": "text/event-stream" }).end(events.join(""))
      : response.end(text);

const progress = (percent: number, message: string): string =>
  `event: progress\ndata: ${JSON.stringify({ state: "running", percent, message, time_left: 4 })}\n\n`;
const end = "event: end\ndata:\n\n";

beforeEach(async () => {
  ({ machine, service } = await signedInMachine());
});
afterEach(async () => {
  await service[Symbol.asyncDispose]();
  machine[Symbol.dispose]();
});

/** One build that ends with this status. */
function offer(state: string, message: string, text = ""): void {
  service.answers[`POST ${user}/running_builds`] = { build: build(7, "oem") };
  service.answers[`${user}/running_builds/7/log`] = logOf([progress(40, "Creating the image"), end], text);
  service.answers[`${user}/running_builds/7`] = { running_build: build(7, "oem", { state, message, percent: 100 }) };
}

describe("kiln build --follow", () => {
  it("shows the stages, and how to get the image", async () => {
    offer("finished", "Finished");
    const ended = await machine.kiln(["build", "1000", "--follow"]);
    expect(ended.code).toBe(0);
    expect(ended.stderr).toMatch(/7 oem +40% Creating the image\n7 oem +100% Finished\n$/);
    expect(ended.stdout).toBe("Build 7 (oem, 0.0.2) finished in 3 s. Get it: kiln download 7\n");
  });

  it.each([
    ["failed", 3],
    ["error", 4],
    ["cancelled", 5],
  ])("says with its exit code that a build is %s", async (state, code) => {
    offer(state, "It did not work");
    const ended = await machine.kiln(["build", "1000", "--follow"]);
    expect(ended).toMatchObject({ code, stdout: expect.stringContaining("It did not work") });
  });

  it("shows the errors of a failed build's log, and nothing that moves the cursor", async () => {
    offer(
      "failed",
      "The build script failed",
      "preparing\n\u001B[2Jerror: no such key\n[ DEBUG   ]: EXEC: [rmdir --ignore-fail-on-non-empty /tmp]\nKIWI: command failed\n",
    );
    const ended = await machine.kiln(["build", "1000", "--follow"]);
    expect(ended.stdout).toBe(
      "Build 7 (oem, 0.0.2) failed: The build script failed\n  error: no such key\n  KIWI: command failed\n",
    );
  });

  it("goes on with the log where it broke off", async () => {
    offer("finished", "Finished");
    const asked: (string | undefined)[] = [];
    service.answers[`${user}/running_builds/7/log`] = ({ headers }, response) => {
      asked.push(headers["last-event-id"]?.toString());
      response.writeHead(200, { "content-type": "text/event-stream" });
      if (asked.length > 1) return response.end(`${progress(90, "Uploading the image")}${end}`);
      return response.write(`event: log\nid: 120\ndata: a line\n\n${progress(40, "Creating the image")}`, () =>
        response.destroy(),
      );
    };
    const ended = await machine.kiln(["build", "1000", "--follow"]);
    expect([ended.code, asked]).toEqual([0, [undefined, "120"]]);
    expect(ended.stderr).toContain("Uploading the image");
  });
});

it.each([0, 3600])("goes on after the service was too busy for its log, asked to wait %i s", async (seconds) => {
  offer("finished", "Finished");
  busyOnce(service.answers, [`${user}/running_builds/7/log`], seconds);
  expect(await machine.kiln(["build", "1000", "--follow"])).toMatchObject({ code: 0 });
});

it("ends with 8 if the service has too many requests", async () => {
  service.answers[`POST ${user}/running_builds`] = busy(3600);
  expect(await machine.kiln(["build", "1000"])).toMatchObject({ code: 8, stderr: expect.stringContaining("Wait") });
});

it("builds further types of the version when the first is finished", async () => {
  const wanted: string[] = [];
  let isFinished = false;
  service.answers[`POST ${user}/running_builds`] = (request, response) => {
    request.on("data", (form) => wanted.push(`${String(form)} ${isFinished}`));
    request.on("end", () => {
      const id = wanted.length;
      response.end(JSON.stringify({ build: build(id, id === 1 ? "oem" : "iso") }));
    });
  };
  for (const id of [1, 2]) {
    service.answers[`${user}/running_builds/${id}/log`] = (_request, response) => {
      isFinished = true;
      response.writeHead(200, { "content-type": "text/event-stream" }).end(end);
    };
    const type = id === 1 ? "oem" : "iso";
    const running_build = build(id, type, { state: "finished" });
    service.answers[`${user}/running_builds/${id}`] = { running_build };
  }
  const ended = await machine.kiln(["build", "1000", "--type", "oem,iso", "--follow", "--json"]);
  expect(ended.code).toBe(0);
  expect(wanted).toEqual([
    "appliance_id=1000&force=false&image_type=oem false",
    "appliance_id=1000&force=false&version=0.0.2&image_type=iso true",
  ]);
  expect(JSON.parse(ended.stdout).builds.map(({ image_type: type }: { image_type: string }) => type)).toEqual([
    "oem",
    "iso",
  ]);
});

it("cancels a build, and says so only if it did", async () => {
  let state = "running";
  service.answers[`GET ${user}/running_builds/7`] = (_request, response) =>
    response.end(JSON.stringify({ running_build: build(7, "oem", { state }) }));
  service.answers[`DELETE ${user}/running_builds/7`] = (_request, response) => {
    state = "cancelled";
    response.end(JSON.stringify({ success: true }));
  };
  expect(await machine.kiln(["cancel", "7"])).toMatchObject({ code: 0, stdout: "Cancelled build 7.\n" });
  expect(await machine.kiln(["cancel", "7"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("ended: cancelled"),
  });
  state = "running";
  service.answers[`DELETE ${user}/running_builds/7`] = (_request, response) => {
    state = "finished";
    response.end(JSON.stringify({ success: true }));
  };
  expect(await machine.kiln(["cancel", "7"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("ended: finished"),
  });
});

it("waits for a build that runs already", async () => {
  service.answers[`${user}/running_builds/7`] = {
    running_build: build(7, "oem", { state: "failed", message: "No key" }),
  };
  service.answers[`${user}/running_builds/7/log`] = (_request, response) =>
    response.writeHead(200, { "content-type": "text/event-stream" }).end(end);
  expect(await machine.kiln(["wait", "7"])).toMatchObject({
    code: 3,
    stdout: expect.stringContaining("failed: No key"),
  });
});

it("prints on Ctrl-C that the build goes on", async () => {
  service.answers[`${user}/running_builds/7`] = { running_build: build(7, "oem", { state: "running" }) };
  service.answers[`${user}/running_builds/7/log`] = (_request, response) =>
    void response.writeHead(200, { "content-type": "text/event-stream" }).write(progress(40, "Creating the image"));
  const { env, folder: cwd } = machine;
  // Interrupts the command as soon as it has shown progress.
  const line = "kiln wait 7 2>err & until grep -q Creating err; do sleep 0.05; done; kill -INT $!; wait $!";
  const ended = await run("bash", ["-mc", line], { env, input: "", cwd });
  expect(ended.code).toBe(130);
  expect(readFileSync(join(cwd, "err"), "utf8")).toContain(
    "Build 7 continues. To watch it: kiln wait 7. To cancel it: kiln cancel 7.",
  );
});

describe("kiln builds", () => {
  it("lists all builds, with a call for each thousand", async () => {
    const all = Array.from({ length: 1001 }, (_, n) => build(2000 - n, "oem", { state: "failed", expired: false }));
    service.answers[`${user}/running_builds`] = { running_builds: [] };
    service.answers[`${user}/builds`] = ({ url = "" }, response) => {
      const before = Number(new URL(url, service.url).searchParams.get("before") ?? Infinity);
      response.end(JSON.stringify({ builds: all.filter(({ id }) => id < before).slice(0, 1000) }));
    };

    const { code, stdout } = await machine.kiln(["builds", "1000", "--json"]);

    expect(code).toBe(0);
    expect(JSON.parse(stdout).builds.map(({ id }: { id: number }) => id)).toEqual(all.map(({ id }) => id));
    expect(service.requests.filter((one) => one.startsWith(`GET ${user}/builds?`))).toHaveLength(2);
  });
});
