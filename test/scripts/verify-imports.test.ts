import { expect, it } from "vitest";
import { Complaint } from "../../scripts/launch/complaint.ts";
import { importRepositories } from "../../scripts/verify/imports.ts";
import { catalogueOf } from "../../scripts/verify/verify.ts";

const debian = catalogueOf("debian-13");
const { signal } = new AbortController();
const ready = {
  name: "main",
  url: "http://deb.example.org",
  state: "ready" as const,
  packages: 1,
  problem: null,
  importedAt: null,
};

const adminThatAnswers = (answers: string[]) => ({
  catalogues: async () => [{ name: answers.shift() ?? debian.name, repositories: [ready] }],
  loadCatalogue: () => Promise.reject(new Error("The launcher loads it.")),
});

it("waits until the launcher offers the release", async () => {
  const admin = adminThatAnswers(["debian-12"]);
  expect(await importRepositories(admin, debian, { signal })).toBe("http://deb.example.org");
});

it("reports that a service does not offer the release", async () => {
  const admin = adminThatAnswers(["debian-12", "debian-12", "debian-12"]);
  await expect(importRepositories(admin, debian, { signal, within: -1 })).rejects.toThrow(
    new Complaint("The service does not offer debian-13 after -1 s."),
  );
});
