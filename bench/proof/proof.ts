import type { Measurement } from "../figure.ts";
import { everyForgery, proveForged } from "./forged.ts";
import { measurePublished } from "./published.ts";
import { Workshop } from "./workshop.ts";

/** Shows that true claims about images can be verified, and that false ones are detected. */
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
