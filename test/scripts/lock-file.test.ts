import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { projectRoot } from "../../scripts/launch/project.ts";

const Entry = z.object({ link: z.boolean().optional(), integrity: z.string().optional() });
const Lock = z.object({ packages: z.record(z.string(), Entry) });

describe("package-lock.json", () => {
  it("has the checksum of every package that npm downloads", () => {
    const { packages } = Lock.parse(JSON.parse(readFileSync(join(projectRoot, "package-lock.json"), "utf8")));
    const downloaded = Object.entries(packages).filter(([path, { link }]) => path.includes("node_modules/") && !link);
    const unchecked = downloaded.filter(([, { integrity }]) => !integrity?.startsWith("sha512-")).map(([path]) => path);

    expect(downloaded.length).toBeGreaterThan(400);
    expect(unchecked).toEqual([]);
  });
});
