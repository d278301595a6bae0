import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { readReady, removeReady, writeReady } from "../../scripts/launch/ready-file.ts";
import { emptyFolder } from "./folder.ts";

const ready = { url: "http://127.0.0.1:8787", username: "tux", api_key: "secret", agent_pid: 12 };

describe("ready.json", () => {
  it("contains what it was given, readable by its owner only", () => {
    const state = emptyFolder();
    writeReady(state, ready);
    expect(JSON.parse(readFileSync(join(state, "ready.json"), "utf8"))).toEqual(ready);
    expect(statSync(join(state, "ready.json")).mode & 0o777).toBe(0o600);
    expect(readdirSync(state)).toEqual(["ready.json"]);
  });

  it("is complete at any time, even while it is being rewritten", async () => {
    const state = emptyFolder();
    const long = { ...ready, api_key: "k".repeat(200_000) };
    writeReady(state, long);
    const writer = new Worker(
      `import("${import.meta.dirname}/../../scripts/launch/ready-file.ts").then(({ writeReady }) => {
        const { workerData: [state, ready] } = require("node:worker_threads");
        for (let i = 0; i < 100; i++) writeReady(state, ready);
      })`,
      { eval: true, workerData: [state, long] },
    );
    const exits: number[] = [];
    writer.on("exit", (code) => exits.push(code));
    let reads = 0;
    for (; exits.length === 0; await setImmediate()) {
      expect(readReady(state)?.api_key).toHaveLength(200_000);
      reads += 1;
    }
    expect(reads).toBeGreaterThan(1);
    expect(exits).toEqual([0]);
  });

  it("is deleted on removal, and a second removal succeeds", () => {
    const state = emptyFolder();
    writeReady(state, ready);
    removeReady(state);
    removeReady(state);
    expect(existsSync(join(state, "ready.json"))).toBe(false);
    expect(readReady(state)).toBeUndefined();
  });
});
