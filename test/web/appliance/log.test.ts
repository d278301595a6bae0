/** The page of a build's log. */
import { beforeEach, describe, expect, it } from "vitest";
import { browser } from "../../support/browser.ts";
import { signedIn, type Client } from "../../support/client.ts";
import { createAppliance } from "../../support/factories.ts";
import { pageOf, textOf } from "../../support/html.ts";
import { runningBuild } from "../../support/running-build.ts";
import { rowOfBuild } from "../../support/builds.ts";

let tux: Client;
let firefox: ReturnType<typeof browser>;
beforeEach(async () => {
  tux = await signedIn();
  firefox = browser();
  await firefox.beginSession(tux);
});

const info = (text: string) => `[ INFO    ]: 14:24:39 | ${text}`;
const lines = [
  info("Kiln: Preparing the build"),
  "[ DEBUG   ]: 14:24:39 | EXEC: [true]",
  "what it printed",
  info("Kiln: Installing software"),
  "[ WARNING ]: 14:24:40 | chkstat not found in image. File Permissions Check skipped",
  "[ WARNING ]: 14:24:40 | <b>the keyboard</b> is not set",
];

async function logOf(text: string) {
  const { buildId, attempt } = await runningBuild(tux);
  await attempt.writesLog(0, text);
  const { applianceId } = await rowOfBuild(buildId);
  const address = `/appliance/${applianceId}/builds/${buildId}/log`;
  const see = async (query = "") => await pageOf(firefox.get(address + query));
  return { buildId, address, see };
}

const numbersOf = (page: Awaited<ReturnType<typeof pageOf>>) =>
  [...page.querySelectorAll("#log-lines li")].map(({ id }) => id);

describe("the page of a log", () => {
  it("shows the lines without details at first, those of the appliance as findings, and where each stage begins", async () => {
    const { see, address } = await logOf(`${lines.join("\n")}\n`);
    const page = await see();
    expect(numbersOf(page)).toEqual(["L1", "L4", "L5", "L6"]);
    expect(textOf(page, "#findings")).toBe("Line 6 <b>the keyboard</b> is not set");
    expect(page.querySelector("#findings a")?.getAttribute("href")).toBe(`${address}?line=6#L6`);
    expect(textOf(page, "#log-stages")).toBe("PreparePackages");
    expect(page.querySelector("noscript meta[http-equiv=refresh]")).not.toBeNull();
  });

  it("filters, searches and finds a line, without a script", async () => {
    const { see } = await logOf(`${lines.join("\n")}\n`);
    expect(numbersOf(await see("?view=all"))).toHaveLength(6);
    expect(numbersOf(await see("?view=findings"))).toEqual(["L6"]);
    expect(numbersOf(await see("?view=all&search=PRINTED"))).toEqual(["L3"]);
    expect(textOf(await see("?view=all&search=nothing"), ".log")).toBe("No such line.");
    expect(numbersOf(await see("?line=3"))).toHaveLength(6);
  });

  it("has pages, and opens the one that has a line", async () => {
    const many = Array.from({ length: 1201 }, (_, nth) => info(`number ${nth + 1}`)).join("\n");
    const { see } = await logOf(`${many}\n`);
    expect(numbersOf(await see()).length).toBe(500);
    const last = await see("?page=3");
    expect([numbersOf(last)[0], numbersOf(last).length, textOf(last, ".pages .num")]).toEqual([
      "L1001",
      201,
      "Page 3 of 3",
    ]);
    expect(numbersOf(await see("?line=501"))[0]).toBe("L501");
  });

  it("is only of this appliance, and not for others", async () => {
    const { buildId, address } = await logOf("x\n");
    const other = await createAppliance(tux);
    const stranger = browser();
    await stranger.beginSession(await signedIn());
    const answers = [await firefox.get(`/appliance/${other}/builds/${buildId}/log`), await stranger.get(address)];
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
  });
});
