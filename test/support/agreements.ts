import { expect } from "vitest";
import { operate, visit, type Client } from "./client.ts";
import tiny from "../../templates/tiny.json";

export const tinyBase = tiny.baseSystem.name;

/** Loads the shipped catalogue as the operator, with this agreement for its base system. */
export const putAgreement = (agreement: unknown): Promise<Response> =>
  operate("PUT", `/catalogues/${tiny.name}`, { ...tiny, baseSystem: { ...tiny.baseSystem, agreement } });

/** Loads the catalogue with this agreement, or as shipped. */
export async function loadWithAgreement(agreement?: { title: string; text: string }): Promise<void> {
  expect((await putAgreement(agreement)).status).toBe(200);
}

/** The page of an agreement, for an account that signs in with this secret. */
export const openAgreement = (
  tux: Client,
  { path = `/agreements/${tinyBase}`, secret = tux.apiKey }: { path?: string; secret?: string } = {},
): Promise<Response> => visit(path, { headers: credentials(tux, secret) });

/** Sends the form of the agreement's page. */
export const sendForm = (tux: Client, formToken: string, headers: Record<string, string> = {}): Promise<Response> =>
  visit(`/agreements/${tinyBase}`, {
    method: "POST",
    headers: { ...credentials(tux, tux.apiKey), ...headers },
    body: new URLSearchParams({ form_token: formToken }),
  });

export const formTokenIn = (html: string): string => /name="form_token" value="([^"]+)"/.exec(html)?.[1] ?? "";

/** Reads the page and accepts the agreement. */
export async function accept(tux: Client): Promise<Response> {
  return await sendForm(tux, formTokenIn(await (await openAgreement(tux)).text()));
}

const credentials = ({ username }: Client, secret: string) => ({
  authorization: `Basic ${btoa(`${username}:${secret}`)}`,
});
