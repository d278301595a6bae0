import { expect } from "vitest";
import { operate } from "./client.ts";
import { stockTinyLinux } from "./repositories.ts";
import tiny from "../../templates/tiny.json";

/**
 * Loads the shipped catalogue with its packages, as the launcher does: templates 1–4 in the sets `default` and `mono`.
 */
export async function loadTemplates(): Promise<void> {
  const answer = await operate("PUT", `/catalogues/${tiny.name}`, tiny);
  expect(await answer.json()).toEqual({ templates: 4 });
  await stockTinyLinux();
}
