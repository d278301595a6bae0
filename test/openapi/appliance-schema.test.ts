import { expect, it } from "vitest";
import { applianceSchema } from "#openapi/appliance-schema";
import { visit } from "../support/client.ts";

const shown = (id: string): string => `${JSON.stringify(applianceSchema(id), null, 2)}\n`;

it("is what the command line brings along", async () => {
  await expect(shown("appliance.json")).toMatchFileSnapshot("../../cli/src/appliance-file/schema.json");
});

it("is published under its own address, for editors on other sites too", async () => {
  const answer = await visit("/schema/appliance.json", { headers: { origin: "https://editor.example.org" } });
  expect(answer.headers.get("access-control-allow-origin")).toBe("*");
  expect(await answer.json()).toEqual(applianceSchema("https://kiln.test/schema/appliance.json"));
});
