import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { importRepository } from "#domain/repositories/import";
import { openDatabase } from "#storage/db";
import { similarNames } from "#storage/packages";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createSafeAppliance } from "../support/factories.ts";
import { publish, rpmMd } from "../support/mirror.ts";
import { tinyLinux, tinyRepository } from "../support/repositories.ts";
import { expectError, readXml } from "../support/xml.ts";
import { shown } from "../support/test-repository.ts";

const db = openDatabase(env);
let tux: Client;
let id: number;

beforeAll(async () => {
  await loadTemplates();
  const more = [
    "hello-far-1-1.aarch64",
    "hello-near-1-1.noarch",
    ...Array.from({ length: 400 }, (_, at) => `common${at}-1-1.noarch`),
  ];
  await publish("tiny/main", rpmMd([...tinyLinux.main, ...more]));
  await importRepository({ env, db }, await tinyRepository("main"));
  await publish("tiny/updates", rpmMd(tinyLinux.updates));
  await importRepository({ env, db }, await tinyRepository("updates"));
});
beforeEach(async () => {
  tux = await signedIn();
  id = await createSafeAppliance(tux);
});

const issuesOf = async () => {
  const { status } = await readXml(await tux.get(`/appliances/${id}/status`));
  return [status.issues.issue ?? []].flat();
};
const command = (name: string, params: Record<string, string>) => tux.post(`/appliances/${id}/cmd/${name}`, params);

describe("a misspelt package", () => {
  it("is reported with a suggestion, and its removal is the solution", async () => {
    await command("add_package", { name: "webdmo" });

    const text = "package webdmo does not exist (possible: do not ask to install webdmo). Did you mean webdemo?";
    expect(await issuesOf()).toEqual([{ type: "error", text, solution: { type: "remove", package: "webdmo" } }]);
    const refused = await tux.post("/running_builds", { appliance_id: id });
    expect(await expectError(refused, 400, "configuration_error")).toBe(text);

    await command("remove_package", { name: "webdmo" });
    expect(await issuesOf()).toEqual([]);
  });

  it("is offered under the right name by the effect of its selection", async () => {
    const answer = await tux.get(`/appliances/${id}/software/effect?add_package=webdmo`);

    const { problems } = (await readXml(answer)).software_effect;
    expect(problems.problem.meant.name).toBe("webdemo");
    expect(problems.problem.solutions.solution[0]).toMatchObject({
      text: "install webdemo instead",
      change: { add_package: "webdemo" },
    });
  });

  it("without similar names is reported without a suggestion", async () => {
    await command("add_package", { name: "zzzzzz" });

    expect(await issuesOf()).toEqual([
      {
        type: "error",
        text: "package zzzzzz does not exist (possible: do not ask to install zzzzzz)",
        solution: { type: "remove", package: "zzzzzz" },
      },
    ]);
  });

  it("is reported immediately in JSON; XML stays unchanged", async () => {
    const headers = { authorization: `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`, accept: "application/json" };
    const path = `/api/v2/user/appliances/${id}/cmd/add_package?name=`;
    const told = await (await visit(`${path}helo`, { method: "POST", headers })).json();
    const known = await (await visit(`${path}broken-dep`, { method: "POST", headers })).json();

    const status = { state: "broken", packages_added: 0, packages_removed: 0 };
    expect(told).toEqual({
      success: { details: { status: { ...status, message: "No package is called helo. Did you mean hello?" } } },
    });
    expect(known).toEqual({ success: { details: { status } } });
    expect(await (await command("add_package", { name: "webdmo" })).text()).toBe(
      "<success>\n  <details>\n    <status>\n      <state>broken</state>\n      <packages_added>0</packages_added>\n      <packages_removed>0</packages_removed>\n    </status>\n  </details>\n</success>\n",
    );
  });

  it("suggests no package of another architecture", async () => {
    await command("add_package", { name: "hello-fear" });

    expect((await issuesOf())[0].text).toMatch(/\. Did you mean hello-near\?$/);
  });
});

describe("a misspelt pattern", () => {
  it("is reported with a suggestion", async () => {
    await command("add_pattern", { name: "wbe" });

    expect(await issuesOf()).toEqual([{ type: "error", text: expect.stringMatching(/\. Did you mean web\?$/) }]);
  });
});

describe("similarNames", () => {
  it("stops at a limit, however many names contain a piece", async () => {
    const repositories = [await shown(await tinyRepository("main"))];
    const found = await similarNames(db, { repositories, arches: ["noarch"], pieces: ["common", "hello"] });

    expect(found.filter((name) => name.startsWith("common"))).toHaveLength(300);
    expect(found).toContain("hello");
  });
});
