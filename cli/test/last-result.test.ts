/** `kiln check --last` and `kiln rebuild --last`: the exit code shows what is known about an image. */
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Machine } from "./support/machine.ts";
import type { StandIn } from "./support/service.ts";
import { signedInMachine } from "./support/signed-in.ts";

let machine: Machine;
let service: StandIn;

beforeEach(async () => {
  ({ machine, service } = await signedInMachine());
});
afterEach(async () => {
  await service[Symbol.asyncDispose]();
  machine[Symbol.dispose]();
});

const check = { path: "/api/v2/user/builds/12/checks", list: "check_runs", ended: { state: "passed", checks: [] } };
const rebuild = { path: "/api/v2/user/builds/12/rebuilds", list: "rebuilds", ended: { state: "same" } };

it.each([
  ["check", check],
  ["rebuild", rebuild],
])("`kiln %s --last` ends with 9 if there is no result", async (verb, { path, list }) => {
  service.answers[path] = { [list]: [] };
  expect(await machine.kiln([verb, "12", "--last"])).toMatchObject({ code: 9 });
  const json = await machine.kiln([verb, "12", "--last", "--json"]);
  expect([json.code, JSON.parse(json.stdout)]).toEqual([9, { [list]: [] }]);
  expect(service.requests.filter((one) => one.startsWith(`POST ${path}`))).toEqual([]);
});

it.each([
  ["check", check],
  ["rebuild", rebuild],
])("`kiln %s --last` waits for a result", async (verb, { path, list, ended }) => {
  service.answers[path] = (_request, response) => {
    service.answers[path] = { [list]: [{ ...ended, ended_at: "2026-11-21T09:00:00Z" }] };
    response.end(JSON.stringify({ [list]: [{ ...ended, state: "running" }] }));
  };
  const answered = await machine.kiln([verb, "12", "--last", "--json"]);
  expect([answered.code, JSON.parse(answered.stdout)]).toMatchObject([0, { [list.slice(0, -1)]: ended }]);
});

it("prints when each check ended, if it was run", async () => {
  const checks = [
    { kind: "login", expected: "A login prompt appears.", outcome: "passed", seen: "It came.", seconds: 12 },
    { kind: "no_failed_units", expected: "No unit fails.", outcome: "not_run", seen: "" },
  ];
  service.answers[check.path] = { check_runs: [{ state: "failed", checks, ended_at: "2026-11-21T09:00:00Z" }] };
  const { stdout } = await machine.kiln(["check", "12", "--last"]);
  expect(
    stdout
      .split("\n")
      .slice(1, 3)
      .map((line) => line.trim().split(/ {2,}/)),
  ).toEqual([
    ["passed", "12 s", "A login prompt appears."],
    ["not_run", "No unit fails."],
  ]);
});
