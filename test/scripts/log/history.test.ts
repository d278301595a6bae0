import { describe, expect, it } from "vitest";
import { continues } from "#lib/attest/log/history";
import { assert, asyncProperty, boolean, integer, record } from "../../support/properties.ts";
import { PlainLog } from "../../attest/log/plain-log.ts";

const logOf = (size: number, change?: { at: number }): PlainLog => {
  const log = new PlainLog();
  log.grow(Array.from({ length: size }, (_, at) => (at === change?.at ? `another ${at}` : `entry ${at}`)));
  return log;
};

/** Reads the files of the first log. Missing files come from the second. */
const mixed = (first: PlainLog, second: PlainLog) => async (path: string) =>
  first.files.get(path) ?? (await second.read(path));

describe("who keeps an older checkpoint", () => {
  it("sees that a log has only grown", async () => {
    await assert(
      asyncProperty(integer({ min: 0, max: 400 }), integer({ min: 0, max: 400 }), async (one, other) => {
        const [old, size] = [Math.min(one, other), Math.max(one, other)];
        const log = logOf(size);
        expect(await continues(logOf(old).head, log.head, log.read)).toBe(true);
      }),
    );
  });

  it("finds 100 of 100 forked logs, whichever tiles they serve", async () => {
    const sizes = record({
      kept: integer({ min: 1, max: 400 }),
      more: integer({ min: 0, max: 300 }),
      at: integer({ min: 0 }),
      servesOld: boolean(),
    });
    let found = 0;
    await assert(
      asyncProperty(sizes, async ({ kept, more, at, servesOld }) => {
        const forked = logOf(kept + more, { at: at % kept });
        const read = servesOld ? mixed(logOf(kept + more), forked) : forked.read;
        expect(await continues(logOf(kept).head, forked.head, read)).toBe(false);
        found += 1;
      }),
      { numRuns: 100 },
    );
    expect(found).toBe(100);
  });

  it("finds 100 of 100 rewound logs, until and after they have grown again", async () => {
    const sizes = record({
      kept: integer({ min: 2, max: 400 }),
      lost: integer({ min: 1 }),
      again: integer({ min: 0, max: 300 }),
    });
    let found = 0;
    await assert(
      asyncProperty(sizes, async ({ kept, lost, again }) => {
        const rewound = logOf(kept - 1 - (lost % (kept - 1)));
        rewound.grow(Array.from({ length: again }, (_, at) => `new ${at}`));
        expect(await continues(logOf(kept).head, rewound.head, rewound.read)).toBe(false);
        found += 1;
      }),
      { numRuns: 100 },
    );
    expect(found).toBe(100);
  });

  it("finds entries that were exchanged, and one that was left out", async () => {
    const kept = logOf(300);
    const exchanged = new PlainLog();
    exchanged.grow([...kept.entries.slice(0, 7), "entry 8", "entry 7", ...kept.entries.slice(9), "entry 300"]);
    expect(await continues(kept.head, exchanged.head, exchanged.read)).toBe(false);
    const shorter = new PlainLog();
    shorter.grow([...kept.entries.slice(1), "entry 300", "entry 301"]);
    expect(await continues(kept.head, shorter.head, shorter.read)).toBe(false);
  });
});
