/** `kiln check --last` and `kiln rebuild --last`: the exit code shows what is known about an image. */
import { expect, it } from "vitest";
import { signedInForEachTest } from "./support/signed-in.ts";

const here = signedInForEachTest();

const check = { path: "/api/v2/user/builds/12/checks", list: "check_runs", ended: { state: "passed", checks: [] } };
const rebuild = { path: "/api/v2/user/builds/12/rebuilds", list: "rebuilds", ended: { state: "same" } };

it.each([
  ["check", check],
  ["rebuild", rebuild],
])("`kiln %s --last` ends with 9 if there is no result", async (verb, { path, list }) => {
  here.service.answers[path] = { [list]: [] };
  expect(await here.machine.kiln([verb, "12", "--last"])).toMatchObject({ code: 9 });
  const json = await here.machine.kiln([verb, "12", "--last", "--json"]);
  expect([json.code, JSON.parse(json.stdout)]).toEqual([9, { [list]: [] }]);
  expect(here.service.requests.filter((one) => one.startsWith(`POST ${path}`))).toEqual([]);
});

it.each([
  ["check", check],
  ["rebuild", rebuild],
])("`kiln %s --last` waits for a result", async (verb, { path, list, ended }) => {
  here.service.answers[path] = (_request, response) => {
    here.service.answers[path] = { [list]: [{ ...ended, ended_at: "2026-11-21T09:00:00Z" }] };
    response.end(JSON.stringify({ [list]: [{ ...ended, state: "running" }] }));
  };
  const answered = await here.machine.kiln([verb, "12", "--last", "--json"]);
  expect([answered.code, JSON.parse(answered.stdout)]).toMatchObject([0, { [list.slice(0, -1)]: ended }]);
});

it("prints when each check ended, if it was run", async () => {
  const checks = [
    { kind: "login", expected: "A login prompt appears.", outcome: "passed", seen: "It came.", seconds: 12 },
    { kind: "no_failed_units", expected: "No unit fails.", outcome: "not_run", seen: "" },
  ];
  here.service.answers[check.path] = { check_runs: [{ state: "failed", checks, ended_at: "2026-11-21T09:00:00Z" }] };
  const { stdout } = await here.machine.kiln(["check", "12", "--last"]);
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
