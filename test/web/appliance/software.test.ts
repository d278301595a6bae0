/** The page of an appliance's software. */
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { listSelection } from "#storage/appliances";
import { openDatabase } from "#storage/db";
import { applianceOwner, type Owner } from "../../support/appliance-owner.ts";
import { browser } from "../../support/browser.ts";
import { signedIn } from "../../support/client.ts";
import { hiddenFields, pageOf, textOf } from "../../support/html.ts";
import { mirrorOf, rpmMd } from "../../support/mirror.ts";

let tux: Owner["tux"];
let firefox: Owner["firefox"];
let id: Owner["id"];
beforeEach(async () => void ({ tux, firefox, id } = await applianceOwner()));

const db = openDatabase(env);
const software = async (query = "") => await pageOf(firefox.get(`/appliance/${id}/software${query}`));
/** A repository of this account that can be searched. */
async function useTools(): Promise<void> {
  const mirror = mirrorOf({ "https://mirror.example.org/tools": rpmMd(["jolly-1.0-1", "jolly-doc-1.0-1"]) });
  vi.spyOn(globalThis, "fetch").mockImplementation((to) => mirror.fetchOutside(String(to)));
  const answer = await send(
    { do: "import", url: "https://mirror.example.org/tools", name: "Tools" },
    "software/repositories",
  );
  expect(answer.status, await answer.text()).toBe(303);
}

const send = async (form: Record<string, string>, path = "software") =>
  await firefox.post(
    `/appliance/${id}/${path}`,
    { form_token: await firefox.formToken(), ...form },
    { referer: `https://kiln.test/appliance/${id}/software?q=he` },
  );

describe("the software page", () => {
  it("finds packages, and says what one would bring", async () => {
    await useTools();
    const page = await software("?q=jol");

    const hit = [...page.querySelectorAll("#hits > li")].find((one) => textOf(one, ".name") === "jolly");
    if (!hit) throw new Error("jolly is not found");
    expect(textOf(page, "#found")).toBe("2 found in 3 repositories");
    expect(textOf(hit, ".hit-action")).toBe("Add jolly");
    const answer = await firefox.get(hit.getAttribute("data-effect") ?? "");
    expect(await answer.json()).toMatchObject({
      text: expect.stringMatching(/^\+1 package, \+/),
      isConflict: false,
    });
    const looked = await software("?q=jol&look=jolly");
    expect([...looked.querySelectorAll(".effect")].map(({ textContent }) => textContent)).toContainEqual(
      expect.stringMatching(/^ ?\+\d+ package/),
    );
    expect(page.querySelector("form[data-search]")?.getAttribute("data-swap")).toBe("hits found more");
  });

  it("shows when nothing is found", async () => {
    expect(textOf(await software("?q=zzzz"), "#found")).toContain("Nothing has this name.");
  });

  it("adds a package, says what that did, and takes it back", async () => {
    await useTools();
    const added = await send({ do: "add", kind: "package", name: "jolly" });
    expect([added.status, added.headers.get("location")]).toEqual([
      303,
      `https://kiln.test/appliance/${id}/software?q=he&look=jolly`,
    ]);
    const page = await software("?q=jol");
    expect(textOf(page, "#result")).toMatch(/jolly is added\. 1 package more, 0 fewer, \+\d/);
    expect(textOf(page, "#size")).toMatch(/Packages\d+ \+1/);
    expect(textOf(page, "section[aria-labelledby=chosen]")).toContain("jolly");
    expect(textOf(page, "#hits")).toContain("Selected");

    await send({ do: "remove", kind: "package", name: "jolly" });
    expect(textOf(await software(), "section[aria-labelledby=chosen]")).not.toContain("jolly");
  });

  it("keeps the pins of a package through Set version, and through Remove and Undo", async () => {
    await useTools();
    const listed = await tux.get(`/appliances/${id}/repositories`);
    const tools = /<id>(\d+)<\/id>\s*<name>Tools</.exec(await listed.text())?.[1] ?? expect.fail("no Tools");
    await tux.post(`/appliances/${id}/cmd/add_package`, { name: "jolly", version: "1.0-1", repository_id: tools });
    const pins = async () => {
      const chosen = (await listSelection(db, id)).find(({ name }) => name === "jolly");
      return [chosen?.version, chosen?.repositoryId];
    };
    expect(await pins()).toEqual(["1.0-1", Number(tools)]);
    const page = await software();
    expect(textOf(page, "section[aria-labelledby=chosen]")).toContain("from Tools");
    await send({ ...hiddenFields(page.querySelector("form[id=pin-jolly]")), version: "" });
    expect(await pins()).toEqual([null, Number(tools)]);

    await tux.post(`/appliances/${id}/cmd/add_package`, { name: "jolly", version: "1.0-1", repository_id: tools });
    await send({ do: "remove", kind: "package", name: "jolly" });
    expect(await pins()).toEqual([undefined, undefined]);
    await send(hiddenFields((await software()).querySelector("#result form")));
    expect(await pins()).toEqual(["1.0-1", Number(tools)]);
  });

  it("pins a version, and bans a package", async () => {
    await send({ do: "add", kind: "package", name: "hello", version: "1.0-1" });
    await send({ do: "add", kind: "ban", name: "webdemo" });
    const page = await software();
    expect(page.querySelector("input[name=version]")).not.toBeNull();
    expect(textOf(page, "section[aria-labelledby=bans]")).toContain("webdemo");
  });

  it("shows a wrong name and a wrong version at the form", async () => {
    expect((await send({ do: "add", kind: "ban", name: "a b" })).status).toBe(422);
    expect((await send({ do: "add", kind: "package", name: "hello", version: "a b" })).status).toBe(422);
  });

  it("shows why the software does not resolve, with ways out that work", async () => {
    await send({ do: "add", kind: "package", name: "helo" });

    const page = await software();

    expect(textOf(page, "#conflicts")).toContain("helo");
    const form = page.querySelector("#conflicts form");
    expect((await send(hiddenFields(form), "software/solve")).status).toBe(303);
    expect(textOf(await software(), "#conflicts")).toBe("");
  });

  it("removes a repository and adds it again", async () => {
    const page = await software();
    const repository = page
      .querySelector("section[aria-labelledby=repos] input[name=repository]")
      ?.getAttribute("value");
    await send({ do: "drop", repository: repository ?? "" }, "software/repositories");
    const without = await software();
    expect(without.querySelector("#use-repository")).not.toBeNull();
    await send({ do: "use", repository: repository ?? "" }, "software/repositories");
    expect(textOf(await software(), "#repos")).toBe(textOf(page, "#repos"));
  });

  it("refuses an address that Kiln does not fetch from", async () => {
    const answer = await send(
      { do: "import", url: "http://127.0.0.1/x", form: "import-repository" },
      "software/repositories",
    );
    expect(answer.status).toBe(422);
    expect(textOf(await pageOf(answer), "#main")).toContain("The url points to a private address.");
  });

  it("does not exist for others", async () => {
    const stranger = browser();
    await stranger.beginSession(await signedIn());
    expect((await stranger.get(`/appliance/${id}/software`)).status).toBe(404);
    expect((await stranger.get(`/appliance/${id}/software/effect?package=hello`)).status).toBe(404);
  });
});
