import { describe, expect, it } from "vitest";
import { operate } from "../support/client.ts";
import { loadTemplates } from "../support/catalogue.ts";
import { storedText } from "../support/configurations.ts";
import tiny from "../../templates/tiny.json";

describe("a catalogue", () => {
  it("is refused, without effect, if a template's configuration is invalid", async () => {
    await loadTemplates();
    const before = await storedText(1);
    const bad = structuredClone(tiny);
    const template = bad.sets[0]?.templates[0];
    if (!template) throw new Error("the catalogue has no template");
    template.configuration.settings.memorySizeMb = 7;

    const answer = await operate("PUT", `/catalogues/${tiny.name}`, bad);

    expect(answer.status).toBe(400);
    expect(JSON.stringify(await answer.json())).toContain("Template 1: settings/memory_size: ");
    expect(await storedText(1)).toBe(before);
  });
});
