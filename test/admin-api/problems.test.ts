import { describe, expect, it } from "vitest";
import { z } from "zod";
import tiny from "../../templates/tiny.json";
import { operate } from "../support/client.ts";

const Failure = z.object({ error: z.object({ code: z.literal("invalid_value"), message: z.string() }) });

async function complaint(method: string, path: string, body: unknown): Promise<string> {
  const answer = await operate(method, path, body);
  expect(answer.status).toBe(400);
  return Failure.parse(await answer.json()).error.message;
}

const ada = { username: "ada", email: "ada@example.org" };

describe("error messages of the admin API", () => {
  it.each([
    ["/accounts", { ...ada, username: "Bad Name" }, /^An account name must have 1 to 64 letters, .* a digit\.$/],
    ["/accounts", { ...ada, email: "nonsense" }, /^Give an email address, such as ada@example\.org\.$/],
    ["/accounts", { ...ada, apiKey: "short" }, /^An API key must have 12 to 100 characters: .*\.$/],
    ["/accounts", { ...ada, password: "short" }, /^A password must have 8 to 200 characters\.$/],
    ["/accounts", { ...ada, displayName: "" }, /^A display name must have 1 to 100 characters\.$/],
    ["/accounts", { username: "Bad Name" }, /^An account name .*\.\nGive an email address, .*\.$/],
    ["/agents", { name: "" }, /^An agent's name must have 1 to 63 lower-case letters, .*\.$/],
    ["/agents", {}, /^An agent's name must have .*\.$/],
  ])("explains in plain sentences what is wrong: %s %j", async (path, body, sentence) => {
    expect(await complaint("POST", path, body)).toMatch(sentence);
  });

  it("names the wrong place in a catalogue, and only the first ones", async () => {
    const { sets } = tiny;
    const nameless = sets.map((set) => ({ ...set, name: undefined }));
    expect(await complaint("PUT", "/catalogues/tiny", { ...tiny, sets: nameless })).toMatch(/^sets\[0\]\.name: .*\.\n/);
    const broken = { ...tiny, sets: Array.from({ length: 9 }, () => "not a set") };
    expect(await complaint("PUT", "/catalogues/tiny", broken)).toMatch(
      /^(sets\[\d\]: .*\.\n){5}There are 4 more problems\.$/,
    );
  });
});
