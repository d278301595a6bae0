import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { z } from "zod";

/** The result of a form. The next page shows it once, at the top. */
export const Result = z.object({
  text: z.string().max(500),
  /** Of several acts: those that were refused, and why. */
  refused: z.array(z.string()).optional(),
  /** A form that undoes it. */
  undo: z.object({ action: z.string(), fields: z.record(z.string(), z.string()) }).optional(),
});
export type Result = z.infer<typeof Result>;

// The prefix keeps other hosts from setting it.
const name = "kiln-result";
const rules = { prefix: "host", path: "/", secure: true, httpOnly: true, sameSite: "Lax" } as const;

export const giveResult = (c: Context, result: Result): void =>
  setCookie(c, name, JSON.stringify(result), { ...rules, maxAge: 60 });

export function takeResult(c: Context): Result | undefined {
  const given = getCookie(c, name, "host");
  if (given === undefined) return undefined;
  // A script that is redirected to another page only learns its address. The browser then opens it, and shows the result.
  const shownBy = c.req.header("x-page");
  if (shownBy !== undefined && shownBy !== c.req.path) return undefined;
  deleteCookie(c, name, rules);
  try {
    return Result.parse(JSON.parse(given));
  } catch {
    return undefined;
  }
}
