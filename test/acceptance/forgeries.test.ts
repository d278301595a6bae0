/** The short form of `npm run bench -- proof`: a stranger rebuilds published images, and forged images are detected. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { everyForgery, proveForged } from "../../bench/proof/forged.ts";
import { provePublished, wishesOf } from "../../bench/proof/published.ts";
import { Workshop } from "../../bench/proof/workshop.ts";

const minutes = 60_000;
let workshop: Workshop;

beforeAll(async () => {
  workshop = await Workshop.open();
});
afterAll(() => workshop[Symbol.asyncDispose]());

it(
  "finds what a root on an agent, a mirror and a service forge",
  async () => {
    const [swapped] = everyForgery.builds;
    const builds = everyForgery.builds.filter((forgery) => forgery === swapped || forgery.report);

    const figures = await proveForged(workshop, { ...everyForgery, builds }, () => {});

    expect(figures).toHaveLength(everyForgery.files.length + everyForgery.services.length + builds.length);
    expect(figures.filter(({ verdict }) => verdict !== "met")).toEqual([]);
  },
  20 * minutes,
);

it(
  "makes the same bytes of a published image, without the service's state",
  async () => {
    for (const wish of wishesOf(7, 1)) expect(await provePublished(workshop, wish)).toMatchObject({ ratio: "same" });
  },
  10 * minutes,
);
