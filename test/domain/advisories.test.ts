/** Reads feeds of advisories, and finds the versions that they affect. */
import { describe, expect, it } from "vitest";
import { affectedBy, countsOf, mostAffected } from "#domain/advisories/affected";
import { trackedSource } from "#domain/advisories/listed-packages";
import { readDebianAnnouncements } from "#lib/advisories/debian-announcements";
import { readDebianTracker } from "#lib/advisories/debian-tracker";
import { jsonObjects } from "#lib/advisories/json-values";
import { readOsv } from "#lib/advisories/osv";

const rest = async () => {};

async function* cut(text: string, length: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length);
}

const tracker = {
  openssl: {
    "CVE-2026-0001": {
      description: 'A "brace" { or \\" and ] in a text',
      scope: "remote",
      releases: {
        bookworm: {
          status: "resolved",
          repositories: { bookworm: "3.0.14" },
          fixed_version: "3.0.15-1",
          urgency: "high",
        },
        trixie: { status: "resolved", fixed_version: "0" },
      },
    },
    "CVE-2026-0002": { releases: { bookworm: { status: "open", nodsa: "Minor issue", urgency: "unimportant" } } },
  },
  linux: { "CVE-2026-0003": { releases: { bookworm: { status: "undetermined" }, trixie: { status: "open" } } } },
};

const read = [
  {
    source: "openssl",
    release: "bookworm",
    advisories: [
      { id: "CVE-2026-0001", state: "resolved", fixed: "3.0.15-1", urgency: "high" },
      { id: "CVE-2026-0002", state: "open", urgency: "unimportant" },
    ],
  },
  { source: "linux", release: "bookworm", advisories: [{ id: "CVE-2026-0003", state: "undetermined" }] },
  { source: "linux", release: "trixie", advisories: [{ id: "CVE-2026-0003", state: "open" }] },
];

it.each([1, 2, 3, 7, 50, 10_000])("reads Debian's tracker in pieces of %i characters", async (length) => {
  const text = JSON.stringify(tracker, null, length % 2);
  expect(await Array.fromAsync(readDebianTracker(cut(text, length), rest))).toEqual(read);
});

it("finds the same objects as a parser, wherever the text is cut", async () => {
  const text = JSON.stringify(tracker);
  for (let length = 1; length < 40; length++) {
    const found = await Array.fromAsync(jsonObjects(cut(text, length), 2, rest));
    expect(found.map(({ keys, text: value }) => [keys, JSON.parse(value)])).toEqual(
      Object.entries(tracker).flatMap(([source, all]) =>
        Object.entries(all).map(([id, value]) => [[source, id], value]),
      ),
    );
  }
});

it.each([
  ["ends too early", JSON.stringify(tracker).slice(0, -1), /too early/],
  ["has wrong brackets", '{"a":{"CVE-1":{"releases":{}}]}', /do not match/],
  ["has another shape", '{"a":{"CVE-1":{"state":"open"}}}', /not an entry of Debian/],
  ["is a page", "<html>{}</html>}", /do not match/],
])("refuses a tracker that %s", async (_, text, message) => {
  await expect(Array.fromAsync(readDebianTracker(cut(text, 9), rest))).rejects.toThrow(message);
});

const entry = (id: string, events: object[], more: object = {}) => ({
  id,
  affected: [{ package: { ecosystem: "Debian:12", name: "curl" }, ranges: [{ type: "ECOSYSTEM", events }] }],
  ...more,
});

describe("OSV", () => {
  const entries = [
    entry("DSA-1-1", [{ introduced: "0" }, { fixed: "7.88-2" }], { upstream: ["CVE-2026-1", "CVE-2026-2"] }),
    entry("DEBIAN-CVE-2026-2", [{ introduced: "0" }, { fixed: "7.88-2" }], { upstream: ["CVE-2026-2"] }),
    entry("DSA-2-1", [{ introduced: "0" }, { fixed: "7.88-3" }]),
    entry("CVE-2026-3", [{ introduced: "7.0" }, { fixed: "7.1" }, { introduced: "8.0" }]),
    entry("CVE-2026-4", [{ introduced: "0" }], { withdrawn: "2026-01-01T00:00:00Z" }),
  ];
  const expected = [
    {
      source: "curl",
      release: "Debian:12",
      advisories: [
        { id: "CVE-2026-1", aliases: ["DSA-1-1"], state: "resolved", fixed: "7.88-2" },
        { id: "CVE-2026-2", aliases: ["DSA-1-1"], state: "resolved", fixed: "7.88-2" },
        { id: "CVE-2026-2", state: "resolved", fixed: "7.88-2" },
        { id: "DSA-2-1", state: "resolved", fixed: "7.88-3" },
        { id: "CVE-2026-3", state: "resolved", fixed: "7.1", introduced: "7.0" },
        { id: "CVE-2026-3", state: "open", introduced: "8.0" },
      ],
    },
  ];

  it.each([
    ["an array", JSON.stringify(entries, null, 2)],
    ["lines", entries.map((one) => JSON.stringify(one)).join("\n")],
  ])("is read from %s", async (_, text) => {
    expect(await Array.fromAsync(readOsv(cut(text, 11), rest))).toEqual(expected);
  });
});

describe("Debian's announcements", () => {
  const list = [
    "[18 Aug 2026] DSA-6450-1 srt - security update",
    "\t{CVE-2026-55868 CVE-2026-55869}",
    "\t[bookworm] - srt 1.5.1-1+deb12u1",
    "\t[trixie] - srt 1.5.4-1+deb13u1",
    "[17 Aug 2026] DSA-6449-2 srt - regression update",
    "    [bookworm] - srt  1.5.1-1+deb12u2",
    "\t[trixie] - srt <not-affected> (Vulnerable code not present)",
    "\tNOTE: [trixie] - is in a note",
    "TODO: someone",
    "\t[bookworm] - of-no-announcement 1",
    "[20 Jan 2025] DLA-4000-1 old - security update",
    "\t{CVE-2025-1}",
    "\t[bullseye] - old 2:1.0~rc1-1",
  ];
  const ofOne = { aliases: ["DSA-6450-1"], state: "resolved" };
  const expected = [
    {
      source: "srt",
      release: "bookworm",
      advisories: [
        { id: "CVE-2026-55868", ...ofOne, fixed: "1.5.1-1+deb12u1" },
        { id: "CVE-2026-55869", ...ofOne, fixed: "1.5.1-1+deb12u1" },
        { id: "DSA-6449-2", state: "resolved", fixed: "1.5.1-1+deb12u2" },
      ],
    },
    {
      source: "srt",
      release: "trixie",
      advisories: [
        { id: "CVE-2026-55868", ...ofOne, fixed: "1.5.4-1+deb13u1" },
        { id: "CVE-2026-55869", ...ofOne, fixed: "1.5.4-1+deb13u1" },
      ],
    },
    {
      source: "old",
      release: "bullseye",
      advisories: [{ id: "CVE-2025-1", aliases: ["DLA-4000-1"], state: "resolved", fixed: "2:1.0~rc1-1" }],
    },
  ];

  it.each([1, 7, 50, 10_000])("are read in pieces of %i characters", async (length) => {
    expect(await Array.fromAsync(readDebianAnnouncements(cut(list.join("\n"), length), rest))).toEqual(expected);
  });

  it("are refused with a line that has no end", async () => {
    const endless = readDebianAnnouncements(cut("x".repeat(1_000_000), 10_000), rest);
    await expect(Array.fromAsync(endless)).rejects.toThrow("too long");
  });
});

const installed = (source: string, sourceVersion: string) => [
  { name: `lib${source}`, version: "1", arch: "amd64", source, sourceVersion },
  { name: source, version: "1", arch: "amd64", source, sourceVersion },
];

describe("a package", () => {
  const rows = read.map((one) => ({ ...one, feed: "debian" as const })) as Parameters<typeof affectedBy>[1];
  const ofBookworm = rows.filter(({ release }) => release === "bookworm");

  it.each([
    ["3.0.15-1~deb12u1", ["fixed", "unimportant"]],
    ["3.0.15-1", ["unimportant"]],
    ["1:3.0.14-1", ["unimportant"]],
  ])("of version %s is compared as dpkg does", (version, states) => {
    const found = affectedBy(installed("openssl", version), ofBookworm, { type: "deb" });
    expect(found.map(({ state }) => state)).toEqual(states);
    expect(found[0]?.packages).toEqual(["libopenssl", "openssl"]);
  });

  it("has the names and the urgency that any feed knows", () => {
    const osv = { id: "CVE-2026-0001", aliases: ["DSA-1-1"], state: "resolved" as const, fixed: "3.0.15-1" };
    const again = { ...osv, aliases: ["DSA-1-1", "DSA-1-2"] };
    const ofOsv = { feed: "osv" as const, source: "openssl", release: "Debian:12", advisories: [osv, again] };
    for (const all of [
      [...ofBookworm, ofOsv],
      [ofOsv, ...ofBookworm],
    ]) {
      const found = affectedBy(installed("openssl", "3.0.14-1"), all, { type: "deb" });
      expect(found).toMatchObject([
        { id: "CVE-2026-0001", aliases: ["DSA-1-1", "DSA-1-2"], urgency: "high", state: "fixed" },
        { id: "CVE-2026-0002", aliases: [] },
      ]);
      const only = (name: string) => affectedBy(installed("openssl", "3.0.14-1"), all, { type: "deb", only: name });
      expect(only("DSA-1-2").map(({ id }) => id)).toEqual(["CVE-2026-0001"]);
      expect(only("DSA-1-3")).toEqual([]);
    }
  });

  it("is fixed in the version of the later of two announcements", () => {
    const first = { id: "CVE-2026-1", aliases: ["DSA-1-1"], state: "resolved" as const, fixed: "1.1-1+deb12u9" };
    const second = { ...first, aliases: ["DSA-1-2"], fixed: "1.1-1+deb12u10" };
    for (const advisories of [
      [first, second],
      [second, first],
    ]) {
      const row = { feed: "dsa" as const, source: "openssl", release: "bookworm", advisories };
      const fixed = (version: string) =>
        affectedBy(installed("openssl", version), [row], { type: "deb" }).map((one) => one.fixed);
      expect(["1.1-1", "1.1-1+deb12u9", "1.1-1+deb12u10"].map(fixed)).toEqual([
        ["1.1-1+deb12u10"],
        ["1.1-1+deb12u10"],
        [],
      ]);
    }
  });

  it("concerns an image more if it is exploited than if there are more to fix", () => {
    const many = { fixed: 9, open: 9, undetermined: 0, unimportant: 0, exploited: 0 };
    const exploited = { ...many, fixed: 1, exploited: 1 };
    expect(mostAffected([many, null, exploited])).toBe(exploited);
  });

  it("is counted once for each advisory", () => {
    const found = affectedBy([...installed("openssl", "3.0.14-1"), ...installed("linux", "6.1-1")], ofBookworm, {
      type: "deb",
    });
    expect(countsOf(found.map((one) => ({ ...one, isExploited: one.state !== "undetermined" })))).toEqual({
      fixed: 1,
      open: 0,
      undetermined: 1,
      unimportant: 1,
      exploited: 1,
    });
  });

  it.each([
    ["linux-signed-amd64", "6.1.158+1", "linux", "6.1.158-1"],
    ["grub-efi-amd64-signed", "1+2.06+13+deb12u1", "grub2", "2.06-13+deb12u1"],
    ["bash", "5.2+1", "bash", "5.2+1"],
  ])("from the source %s is that of another one if it is only signed", (name, version, tracked, as) => {
    expect(trackedSource({ name, version })).toEqual({ name: tracked, version: as });
  });
});
