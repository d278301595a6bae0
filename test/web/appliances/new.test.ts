/** The page of base systems for a new appliance: their order, and what it shows about each. */
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { imageTypes } from "#lib/contract/index";
import { Catalogue } from "#model/catalogue";
import { saveCatalogue } from "#storage/catalogues";
import { openDatabase } from "#storage/db";
import { browser } from "../../support/browser.ts";
import { signedIn, type Client } from "../../support/client.ts";
import { createAppliance } from "../../support/factories.ts";
import { pageOf, textOf } from "../../support/html.ts";
import { readXml } from "../../support/xml.ts";
import { supportWords } from "../../../src/web/pages/appliances/support.tsx";
import { debian12, debian13, debian13Arm64, tumbleweed } from "../../support/catalogues.ts";

let tux: Client;
let firefox: ReturnType<typeof browser>;
beforeAll(async () => {
  await signedIn();
  for (const file of [tumbleweed, debian12, debian13])
    await saveCatalogue(openDatabase(env), Catalogue.parse(file), []);
});
beforeEach(async () => {
  tux = await signedIn();
  firefox = browser();
});

describe("the page of templates", () => {
  it("is what someone without appliances sees first", async () => {
    const first = await firefox.signIn(tux);
    expect(first.headers.get("location")).toBe("https://kiln.test/appliances/new");
    expect(textOf(await pageOf(firefox.get("/appliances/new")), "h1")).toBe("What do you want to make?");
    await createAppliance(tux);
    expect(textOf(await pageOf(firefox.get("/appliances/new")), "h1")).toBe("Create an appliance");
    expect((await browser().signIn(tux)).headers.get("location")).toBe("https://kiln.test/");
  });

  it("begins with the system that is supported longest, and ends with the toy", async () => {
    await firefox.beginSession(tux);
    const page = await pageOf(firefox.get("/appliances/new"));
    const titles = [...page.querySelectorAll("#new h2")].map(({ textContent }) => textContent);
    expect(titles).toEqual(["Debian 13", "Debian 12", "openSUSE Tumbleweed", "Tiny Linux 1.0"]);
    const chosen = [...page.querySelectorAll("[name=clone_from][checked]")];
    expect(chosen.map((each) => each.getAttribute("value"))).toEqual(["21"]);
    const { words } = supportWords(debian13.baseSystem.support, new Date().toISOString().slice(0, 10));
    expect(textOf(page, "#new")).toContain(`Debian 13${words} (source)`);
    expect(textOf(page, "#new")).toContain("Download about 280 MB, disk 1,573 MB");
    expect(textOf(page, "#new")).toContain("A toy to try Kiln with");
  });

  it("offers an architecture only with the systems that have packages for it, and says so", async () => {
    await firefox.beginSession(tux);
    const page = await pageOf(firefox.get("/appliances/new"));
    const served = (name: string) =>
      page.querySelector(`[name=clone_from][value="${name}"]`)?.getAttribute("data-arches");
    expect([served("21"), served("1")]).toEqual(["x86_64", "x86_64 i586"]);
    expect([...page.querySelectorAll("[name=arch]")].map((one) => one.getAttribute("value"))).toEqual([
      "x86_64",
      "i686",
    ]);
    expect(textOf(page, ".architectures")).toContain("i686: only Tiny Linux 1.0 has packages for it.");

    const form_token = await firefox.formToken();
    const send = (clone_from: string, arch: string) =>
      firefox.post("/appliances", { form_token, form: "new", clone_from, arch });
    const refused = await send("1", "aarch64");
    expect(refused.status).toBe(422);
    expect(textOf(await pageOf(refused), ".architectures .wrong")).toBe("Tiny Linux 1.0 has no packages for aarch64.");
    expect((await send("1", "i686")).status).toBe(303);
  });

  it("needs no choice of an architecture if the system has only one, even if the form hides another choice", async () => {
    await firefox.signIn(tux);
    const form_token = await firefox.formToken();
    const made = await firefox.post("/appliances", { form_token, form: "new", clone_from: "21", arch: "i686" });
    const [id] = /\d+$/.exec(made.headers.get("location") ?? "") ?? [];
    expect((await readXml(await tux.get(`/appliances/${id}`))).appliance.arch).toBe("x86_64");
  });

  it("changes nothing for clients of the API, which take the first set", async () => {
    const names = [...(await (await tux.get("/template_sets")).text()).matchAll(/<template_set>\s*<name>([^<]+)/g)];
    expect(names.map(([, name]) => name)[0]).toBe("default");
  });
});

describe("the formats of a build", () => {
  it("are those that the base system can be built in, with the reason for the others", async () => {
    await saveCatalogue(openDatabase(env), Catalogue.parse(debian13Arm64), []);
    await firefox.beginSession(tux);
    const id = await createAppliance(tux, { clone_from: 31, arch: "aarch64" });
    const page = await pageOf(firefox.get(`/appliance/${id}/build`));
    for (const form of ["#new-build", "#formats"]) {
      const offered = [...page.querySelectorAll(`${form} [name=image_type]`)].map((one) => one.getAttribute("value"));
      expect(offered.toSorted()).toEqual(["oem", "qcow2"]);
      const { cannot = {} } = Catalogue.parse(debian13Arm64).baseSystem;
      expect(textOf(page, form)).toContain(`oemiso: ${cannot.installer}`);
    }
    const tiny = await pageOf(firefox.get(`/appliance/${await createAppliance(tux)}/build`));
    expect(tiny.querySelectorAll("#new-build [name=image_type]").length).toBe(imageTypes.length);
    expect(textOf(tiny, "#new-build")).not.toContain("Not ");
  });
});

describe("the end of support", () => {
  const support = { until: "2028-08-09", longTermUntil: "2030-06-30", source: "https://example.org/" };
  it.each([
    ["2028-08-09", "Supported until 9 August 2028, long-term support until 30 June 2030", false],
    ["2028-08-10", "Only long-term support, until 30 June 2030", false],
    ["2030-07-01", "No longer supported since 30 June 2030", true],
  ])("on %s: %s", (today, words, isOver) => {
    expect(supportWords(support, today)).toEqual({ words, isOver });
  });

  it("of a release without long-term support is its only end", () => {
    const { longTermUntil: _, ...short } = support;
    expect(supportWords(short, "2028-08-09").words).toBe("Supported until 9 August 2028");
    expect(supportWords(short, "2028-08-10")).toEqual({
      words: "No longer supported since 9 August 2028",
      isOver: true,
    });
  });

  it("does not exist for a rolling release", () => {
    const words = "A rolling release: supported as long as it is updated";
    expect(supportWords({ ...support, until: null }, "2040-01-01")).toEqual({ words, isOver: false });
  });
});
