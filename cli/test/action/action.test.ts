import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newMachine } from "../support/machine.ts";
import { standIn as serviceOf } from "../support/service.ts";
import { action, runJob, type Job } from "./runner.ts";

interface Comment {
  id: number;
  body: string;
}

/** GitHub's comments on pull request 7, two on each page. The `refusals` come first. */
const github = {
  comments: [] as Comment[],
  requests: [] as string[],
  refusals: {} as Record<string, { status: number; message: string; times: number }>,
};
const path = "/repos/owner/kiosk/issues/7/comments";
const pageLength = 2;

let server: Server;
let api: string;
let folder: string;
const at = (...parts: string[]) => join(folder, ...parts);
const inputs = { url: "https://kiln.test", account: "tux", token: "kiln_secret", version: "0.1.0" };

beforeAll(async () => {
  server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://x");
    const call = `${request.method} ${pathname}`;
    github.requests.push(call);
    const answer = (status: number, value: unknown, headers = {}) =>
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
    const refusal = github.refusals[call];
    if (refusal && refusal.times-- > 0) return answer(refusal.status, { message: refusal.message });
    if (request.headers.authorization !== "Bearer github-token") return answer(401, { message: "Bad credentials" });
    if (request.method === "GET") {
      const page = Number(searchParams.get("page") ?? 1);
      const more = github.comments.length > page * pageLength;
      const link = `<${api}${path}?per_page=100&page=${page + 1}>; rel="next"`;
      return answer(200, github.comments.slice((page - 1) * pageLength, page * pageLength), more ? { link } : {});
    }
    let text = "";
    request.on("data", (chunk) => (text += chunk));
    return request.on("end", () => {
      const { body } = JSON.parse(text) as { body: string };
      const known = github.comments.find(({ id }) => call.endsWith(`/comments/${id}`));
      if (known) known.body = body;
      else if (request.method === "POST") github.comments.push({ id: github.comments.length + 1, body });
      answer(known || request.method === "POST" ? 200 : 404, {});
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  folder = mkdtempSync(join(tmpdir(), "kiln-action-test-"));
  mkdirSync(at("package"));
  mkdirSync(at("workspace"));
  const manifest = { name: "@kiln-build/cli", version: "0.1.0", bin: { kiln: "kiln" } };
  writeFileSync(at("package/package.json"), JSON.stringify(manifest));
  writeFileSync(at("package/kiln"), standIn, { mode: 0o755 });
  execFileSync("npm", ["pack", at("package"), "--pack-destination", at("workspace")], { stdio: "pipe" });
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(() => {
  Object.assign(github, { comments: [], requests: [], refusals: {} });
  planned("settings/memory_size: 512 to 1024\n", 2);
  writeFileSync(at("applied.json"), JSON.stringify({ made: true, definition: { id: 1000 } }));
  writeFileSync(at("code-of-build"), "0");
  writeFileSync(at("log"), "");
});

/** A stand-in for kiln. It prints the output that the test has prepared for a command, and records its arguments. */
const standIn = `#!/bin/sh
echo "$KILN_ACCOUNT@$KILN_URL $*" >> "$STAND_IN/log"
case $1 in
  plan) cat "$STAND_IN/plan.txt"; exit "$(cat "$STAND_IN/code-of-plan")" ;;
  apply) cat "$STAND_IN/applied.json" ;;
  build) echo '{"builds":[{"id":12},{"id":13}]}'; exit "$(cat "$STAND_IN/code-of-build")" ;;
  download) echo "{\\"file\\":\\"images/$2.tgz\\",\\"verified\\":true}" ;;
esac
`;

function planned(text: string, code: number): void {
  writeFileSync(at("plan.txt"), text);
  writeFileSync(at("code-of-plan"), String(code));
}

const calls = () => readFileSync(at("log"), "utf8").trim().split("\n");

/** A job whose kiln is installed. */
const run = (event: Job["event"], more: Record<string, string> = {}) =>
  runJob({
    event,
    inputs: { ...inputs, ...more },
    api,
    workspace: at("workspace"),
    env: { PATH: `${at("package")}:${process.env["PATH"]}`, STAND_IN: folder, KILN_ACTION_PAUSE_MS: "1" },
    without: ["Install kiln"],
  });

describe("a pull request", () => {
  it("gets the plan as a comment, and a later plan replaces it", async () => {
    github.comments = [1, 2, 3].map((id) => ({ id, body: "Looks good" }));
    const first = await run("pull_request");
    expect(first).toMatchObject({ failed: undefined, outputs: { changes: "true" } });
    expect(github.comments[3]?.body).toBe(
      "<!-- kiln plan of appliance.yaml -->\n**Kiln:** `appliance.yaml` would change the appliance.\n\n" +
        "```\nsettings/memory_size: 512 to 1024\n```",
    );
    expect(first.summary).toBe(`${github.comments[3]?.body}\n`);

    planned("Nothing would change.\n", 0);
    expect(await run("pull_request")).toMatchObject({ failed: undefined, outputs: { changes: "false" } });
    expect(github.comments).toHaveLength(4);
    expect(github.comments[3]?.body).toContain("changes nothing");
    expect(calls()).toEqual(Array.from({ length: 2 }, () => "tux@https://kiln.test plan appliance.yaml"));
  });

  it("has one comment for each file", async () => {
    await run("pull_request", { file: "a/kiosk.yaml" });
    await run("pull_request", { file: "b/-->.yaml" });
    expect(github.comments.map(({ body }) => body.split("\n")[0])).toEqual([
      "<!-- kiln plan of a%2Fkiosk.yaml -->",
      "<!-- kiln plan of b%2F--%3E.yaml -->",
    ]);
  });

  it("fails if the appliance could not be built, and still says why", async () => {
    planned("package helo does not exist\n", 3);
    const end = await run("pull_request");
    expect(end.failed).toBe("Comment");
    expect(github.comments[0]?.body).toMatch(/cannot be built[^]*helo does not exist/);
  });

  it("fails without a comment if the plan fails", async () => {
    planned("", 7);
    const end = await run("pull_request");
    expect([end.failed, github.requests]).toEqual(["Plan", []]);
  });

  it("shows a plan as text, whatever is in it", async () => {
    planned(`\`\`\`\`\n@someone <img src=x> ::error::no\n${"x".repeat(70_000)}`, 2);
    const { log } = await run("pull_request");
    const [, , , fence, ...rest] = (github.comments[0]?.body ?? "").split("\n");
    expect([fence, rest.at(-1)]).toEqual(["`````", "`````"]);
    expect(github.comments[0]?.body.length).toBeLessThan(65_536);
    const [, pause = ""] = /^::stop-commands::(\S+)$/m.exec(log) ?? [];
    expect(log.indexOf("::error::no")).toBeLessThan(log.indexOf(`::${pause}::`));
  });

  it("warns if the permission to comment is missing, as in a fork", async () => {
    const message = "Resource not accessible by integration";
    github.refusals = { [`POST ${path}`]: { status: 403, message, times: 9 } };
    const end = await run("pull_request");
    expect(end.failed).toBeUndefined();
    expect(end.log).toMatch(/^::warning::GitHub answered 403 Resource not accessible.*pull-requests: write/m);
    expect(end.summary).toContain("memory_size");
  });

  it("writes its own comment if another account wrote the one with its mark", async () => {
    github.comments = [{ id: 1, body: "<!-- kiln plan of appliance.yaml --> forged" }];
    github.refusals = { "PATCH /repos/owner/kiosk/issues/comments/1": { status: 403, message: "no", times: 9 } };
    await run("pull_request");
    expect(github.comments.map(({ id }) => id)).toEqual([1, 2]);
    expect(github.comments[0]?.body).toContain("forged");
  });

  it("asks again while GitHub is busy", async () => {
    github.refusals = { [`GET ${path}`]: { status: 502, message: "", times: 2 } };
    Object.assign(github.refusals, { [`POST ${path}`]: { status: 503, message: "", times: 1 } });
    expect(await run("pull_request")).toMatchObject({ failed: undefined });
    expect(github.comments).toHaveLength(1);
  });

  it.each([
    ["GET", 401, "Bad credentials"],
    ["POST", 422, "Validation Failed"],
    ["POST", 500, "Server Error"],
  ])("fails if GitHub answers %s with %d", async (method, status, message) => {
    github.refusals = { [`${method} ${path}`]: { status, message, times: 9 } };
    const end = await run("pull_request");
    expect(end.failed).toBe("Comment");
    expect(end.log).toContain(`::error::The comment was not written: GitHub answered ${status} ${message}`);
    expect(github.requests.filter((call) => call.startsWith("POST")).length).toBeLessThanOrEqual(1);
  });
});

it("does nothing on pull_request_target, where a stranger's file would get the secrets", async () => {
  const end = await run("pull_request_target");

  expect(end).toMatchObject({ failed: "Refuse strangers' pull requests", log: expect.stringContaining("::error::") });
  expect([calls(), github.requests]).toEqual([[""], []]);
});

describe("a push", () => {
  it("applies, builds and downloads with the installed kiln, and comments nothing", async () => {
    const end = await runJob({
      event: "push",
      inputs: { ...inputs, tarball: "kiln-build-cli-0.1.0.tgz", version: "", types: "oem,iso", key: "kiln.pem" },
      api,
      workspace: at("workspace"),
      env: { STAND_IN: folder, npm_config_offline: "true" },
    });
    expect(end).toMatchObject({
      failed: undefined,
      outputs: { appliance: "1000", images: "images/12.tgz\nimages/13.tgz", changes: "" },
    });
    expect(calls()).toEqual(
      [
        "apply appliance.yaml --json",
        "build 1000 --type oem,iso --follow --json",
        "download 12 --output images --whole --json",
        "download 13 --output images --whole --json",
      ].map((line) => `tux@https://kiln.test ${line}`),
    );
    expect(github.requests).toEqual([]);
  });

  it("downloads nothing of a build that failed", async () => {
    writeFileSync(at("code-of-build"), "3");
    const end = await run("push");
    expect([end.failed, end.outputs["images"]]).toEqual(["Build and download", ""]);
    expect(calls().at(-1)).toContain("build 1000 --follow --json");
  });

  it.each([
    [{ version: "" }, "Give tarball"],
    [{ version: "^1.0; rm -rf ." }, "version must be exact"],
  ])("installs nothing with %j", async (given, message) => {
    const end = await runJob({ event: "push", inputs: { ...inputs, ...given }, api, workspace: at("workspace") });
    expect(end.failed).toBe("Install kiln");
    expect(end.log).toContain(`::error::${message}`);
  });
});

it("runs with the real kiln", async () => {
  using machine = newMachine();
  const software = { state: "unimported", added: [], removed: [], problems: [] };
  await using service = await serviceOf({
    "/api/v2/user/appliances": { appliances: [{ id: 1000, name: "Kiosk" }] },
    "/api/v2/user/appliances/1000/definition": { definition: { id: 1000, name: "Kiosk", files: [] } },
    "/api/v2/user/appliances/1000/definition/plan": {
      plan: { changes: [{ name: "packages", item: "hello", to: "" }], software },
    },
  });
  writeFileSync(at("workspace/appliance.yaml"), "name: Kiosk\nbase_system: tiny-1.0\npackages: [hello]\n");
  const job = { api, workspace: at("workspace"), env: machine.env, without: ["Install kiln"] };
  const given = { ...inputs, url: service.url };

  const pull = await runJob({ ...job, event: "pull_request", inputs: given });
  expect(pull).toMatchObject({ failed: undefined, outputs: { changes: "true" } });
  expect(github.comments[0]?.body).toMatch(/would change the appliance[^]*hello/);

  // The stand-in starts no builds.
  const push = await runJob({ ...job, event: "push", inputs: given });
  expect(push).toMatchObject({ failed: "Build and download", outputs: { appliance: "1000" } });
  expect(service.requests).toContain("PUT /api/v2/user/appliances/1000/definition");
  expect(service.requests.at(-1)).toBe("POST /api/v2/user/running_builds");
});

it("uses no other action, and puts no expression into a script", () => {
  for (const step of action.runs.steps) {
    expect(Object.keys(step)).not.toContain("uses");
    expect(step.run).not.toContain("${{");
  }
});
