import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { z } from "zod";

/** The result of a form. The next page shows it once, at the top. */
export const Result = z.object({
  text: z.string().max(500),
  /** The actions that were refused, with the reasons, if the form performed several. */
  refused: z.array(z.string()).optional(),
  /** The action was done, but something is wrong now. */
  isWarning: z.boolean().optional(),
  /** A form that undoes the action, and the ids of the elements that its answer replaces. */
  undo: z
    .object({ action: z.string(), fields: z.record(z.string(), z.string()), swap: z.string().optional() })
    .optional(),
  /** The effect of the action on the image. */
  change: z.object({ packages: z.number(), installedBytes: z.number() }).optional(),
});
export type Result = z.infer<typeof Result>;

// The prefix keeps other hosts from setting the cookie.
const name = "kiln-result";
const rules = { prefix: "host", path: "/", secure: true, httpOnly: true, sameSite: "Lax" } as const;

export const giveResult = (c: Context, result: Result): void =>
  setCookie(c, name, JSON.stringify(result), { ...rules, maxAge: 60 });

/** Reads the result without removing it, for a part of the page that also shows some of it. */
export function readResult(c: Context): Result | undefined {
  const given = getCookie(c, name, "host");
  // A script that is redirected to another page uses only its address. The browser then opens that page, which shows
  // the result.
  const shownBy = c.req.header("x-page");
  if (given === undefined || (shownBy !== undefined && shownBy !== c.req.path)) return undefined;
  try {
    return Result.parse(JSON.parse(given));
  } catch {
    return undefined;
  }
}

/** Takes the result, so that no later page shows it. */
export function takeResult(c: Context): Result | undefined {
  const result = readResult(c);
  if (result) deleteCookie(c, name, rules);
  return result;
}
