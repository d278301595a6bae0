import type { Measurement } from "../figure.ts";
import { everyForgery, proveForged } from "./forged.ts";
import { measurePublished } from "./published.ts";
import { Workshop } from "./workshop.ts";

/** Shows that claims about images are true, and that someone finds false ones. */
export const proof: Measurement[] = [
  { name: "proof/published", run: measurePublished },
  {
    name: "proof/forged",
    run: async (place) => {
      await using workshop = await Workshop.open();
      return await proveForged(workshop, everyForgery, place.say);
    },
  },
];
