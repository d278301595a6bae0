import { afterEach, beforeEach, expect, it } from "vitest";
import { effect } from "./support/definition.ts";
import type { Machine } from "./support/machine.ts";
import { answering, type StandIn } from "./support/service.ts";
import { signedInMachine } from "./support/signed-in.ts";

const path = "/api/v2/user/appliances/1000";
const none = {
  add_package: [],
  remove_package: [],
  add_pattern: [],
  remove_pattern: [],
  ban_package: [],
  unban_package: [],
  add_repository: [],
  remove_repository: [],
};
const unsolvable = {
  state: "unsolvable",
  added: [],
  removed: [],
  problems: [
    {
      text: "package helo does not exist",
      meant: ["hello"],
      solutions: [
        { text: "install hello instead", change: { ...none, add_package: ["hello"] } },
        { text: "do not ask to install helo", change: none },
      ],
    },
  ],
};

let machine: Machine;
let service: StandIn;
const posts = () => service.requests.filter((request) => request.startsWith("POST"));

beforeEach(async () => {
  ({ machine, service } = await signedInMachine({
    [`${path}/software/effect`]: { software_effect: effect },
    [`${path}/cmd/add_package`]: { success: {} },
  }));
});
afterEach(async () => {
  await service[Symbol.asyncDispose]();
  machine[Symbol.dispose]();
});

it("prints what a change does to the image, and makes it", async () => {
  const ended = await machine.kiln(["add", "1000", "hello"]);
  expect(ended).toEqual({ code: 0, stdout: "+1 package, +38.0 MB\n  + hello 1.1-1\n", stderr: "" });
  expect(service.requests).toContain(`GET ${path}/software/effect?add_package=hello`);
  expect(posts()).toEqual([`POST ${path}/cmd/add_package`]);
});

it("adds and removes a repository by its name, and takes software only from that one", async () => {
  service.answers["/api/v2/user/repositories"] = {
    repositories: [
      { id: 7, name: "kiosk" },
      { id: 8, name: "kiosk 2" },
    ],
  };
  service.answers[`${path}/repositories`] = { repositories: [{ id: 9, name: "kiosk" }] };
  const sent: string[] = [];
  for (const call of ["add_repository", "remove_repository", "add_package"])
    service.answers[`POST ${path}/cmd/${call}`] = answering({ repositories: [], success: {} }, (body) =>
      sent.push(`${call} ${body}`),
    );

  await machine.kiln(["repo", "add", "1000", "kiosk"]);
  await machine.kiln(["repo", "remove", "1000", "kiosk"]);
  await machine.kiln(["add", "1000", "hello", "--repository", "kiosk"]);

  expect(service.requests).toContain("GET /api/v2/user/repositories?filter=kiosk");
  expect(service.requests).toContain(`GET ${path}/software/effect?add_package=hello&repository_id=9`);
  expect(sent).toEqual([
    "add_repository repo_id=7",
    "remove_repository repo_id=9",
    "add_package name=hello&repository_id=9",
  ]);
});

it("makes nothing with --dry-run", async () => {
  expect(await machine.kiln(["add", "1000", "hello", "--dry-run"])).toMatchObject({ code: 0 });
  expect(posts()).toEqual([]);
});

it("makes nothing that cannot be installed, and names the commands that solve it", async () => {
  service.answers[`${path}/software/effect`] = { software_effect: unsolvable };
  const ended = await machine.kiln(["add", "1000", "helo"]);
  expect(ended.stdout).toBe(
    "error: package helo does not exist. Did you mean hello?\n  install hello instead: kiln add 1000 hello\n",
  );
  expect([ended.code, posts()]).toEqual([3, []]);
  expect(await machine.kiln(["add", "1000", "helo", "--force"])).toMatchObject({ code: 3 });
  expect(posts()).toHaveLength(1);
});

it.each([
  ["remove", ["helo"], "Kiosk has no helo among its packages.\nDid you mean hello?\n"],
  ["remove", ["hello", "vim"], "Kiosk has no vim among its packages.\n`kiln show 1000` lists them.\n"],
  ["unban", ["hello"], "Kiosk has no hello among its bans.\n`kiln show 1000` lists them.\n"],
])("%s %j takes out nothing that is not there", async (verb, names, told) => {
  const definition = { name: "Kiosk", packages: [{ name: "hello" }], patterns: [], bans: [{ name: "vim" }] };
  service.answers[`${path}/definition`] = { definition };
  const ended = await machine.kiln([verb, "1000", ...names]);
  expect(ended).toEqual({ code: 9, stdout: "", stderr: `kiln: ${told}` });
  expect(posts()).toEqual([]);
});
