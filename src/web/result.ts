import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { z } from "zod";

/** The result of a form. The next page shows it once, at the top. */
export const Result = z.object({
  text: z.string().max(500),
  /** Of several acts: those that were refused, and why. */
  refused: z.array(z.string()).optional(),
  /** It is done, but something is wrong now. */
  isWarning: z.boolean().optional(),
  /** A form that undoes it, and the ids of the elements that its answer replaces. */
  undo: z
    .object({ action: z.string(), fields: z.record(z.string(), z.string()), swap: z.string().optional() })
    .optional(),
  /** What it has changed of the image. */
  change: z.object({ packages: z.number(), installedBytes: z.number() }).optional(),
});
export type Result = z.infer<typeof Result>;

// The prefix keeps other hosts from setting it.
const name = "kiln-result";
const rules = { prefix: "host", path: "/", secure: true, httpOnly: true, sameSite: "Lax" } as const;

export const giveResult = (c: Context, result: Result): void =>
  setCookie(c, name, JSON.stringify(result), { ...rules, maxAge: 60 });

/** The result, for a part of the page that also shows something of it. */
export function readResult(c: Context): Result | undefined {
  const given = getCookie(c, name, "host");
  // A script that is redirected to another page only learns its address. The browser then opens it, and shows the result.
  const shownBy = c.req.header("x-page");
  if (given === undefined || (shownBy !== undefined && shownBy !== c.req.path)) return undefined;
  try {
    return Result.parse(JSON.parse(given));
  } catch {
    return undefined;
  }
}

/** The result, which no later page shows. */
export function takeResult(c: Context): Result | undefined {
  const result = readResult(c);
  if (result) deleteCookie(c, name, rules);
  return result;
}
