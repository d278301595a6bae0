import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { writeTo } from "../src/appliance-file/folder.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "kiln-folder-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

it("writes every file of an appliance, also one with the name of another and .part", () => {
  const files = new Map([
    ["kiosk.files/a.part", Buffer.from("part")],
    ["kiosk.files/a", Buffer.from("whole")],
  ]);
  writeTo(join(folder, "kiosk.yaml"), { text: "name: kiosk\n", files });
  expect(readdirSync(join(folder, "kiosk.files"))).toEqual(["a", "a.part"]);
  expect(readFileSync(join(folder, "kiosk.files/a.part"), "utf8")).toBe("part");
});

it("leaves no draft of a file that cannot be written", () => {
  mkdirSync(join(folder, "kiosk.yaml"));
  expect(() => writeTo(join(folder, "kiosk.yaml"), { text: "", files: new Map() })).toThrow("It cannot be written");
  expect(readdirSync(folder)).toEqual(["kiosk.yaml"]);
});
