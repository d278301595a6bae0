import { z } from "zod";

/** The number of hits that a page shows at first, and the maximum. The best come first. */
export const firstShown = 25;
export const maxShown = 300;

/** The query in the address of the page. */
export const Query = z.object({
  q: z.string().max(255).default(""),
  all_fields: z.string().optional(),
  /** The number of hits to show. */
  most: z.coerce.number().int().min(1).max(maxShown).catch(firstShown),
  /** The name of a hit whose effect is shown. */
  look: z.string().optional(),
  /** The id of the heading where the person works. */
  at: z.enum(["chosen", "bans"]).optional().catch(undefined),
});
