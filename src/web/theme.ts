import type { Context } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { readParams } from "#http/params";
import { factory } from "./factory.ts";
import { urlToContinue } from "./session.ts";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

export const preferencesPath = "/preferences";
const name = "kiln-theme";
const yearSeconds = 365 * 24 * 60 * 60;

/** The colours that were chosen in this browser. */
export const themeOf = (c: Context): Theme => themeIn(getCookie(c, name));

const themeIn = (given: string | undefined): Theme => themes.find((theme) => theme === given) ?? "system";

/** Remembers the colours in the browser; no account is needed. */
export const preferences = factory.createApp().post(preferencesPath, async (c) => {
  const { theme } = await readParams(c);
  setCookie(c, name, themeIn(theme), { path: "/", maxAge: yearSeconds, sameSite: "Lax" });
  return c.redirect(urlToContinue(c.var.baseUrl, c.req.header("referer")), 303);
});
