import { describe, expect, it } from "vitest";
import { debianFacts } from "#domain/images/debian-facts";
import { Refusal } from "#domain/refusal";
import type { BaseSystemFacts } from "#model/catalogue";
import tiny from "../../templates/tiny.json";

const rpm: BaseSystemFacts = tiny.baseSystem;
const debian: BaseSystemFacts = {
  ...rpm,
  packageType: "deb",
  detection: { ...rpm.detection, codenames: ["bookworm", "stable"] },
};
const own = { name: "own", fingerprint: "a".repeat(40), armour: "-----OWN" };
const theirs = { name: "theirs", fingerprint: "b".repeat(40), armour: "-----THEIRS" };
const suite = {
  accountId: null,
  url: "http://deb.example.org/debian/dists/bookworm",
  signer: "c",
  signingKeys: [own],
  acceptsExpired: false,
  purpose: null,
};

describe("the facts of a Debian system", () => {
  it("are none for another system", () => {
    expect(debianFacts(rpm, [suite], [own])).toBeUndefined();
  });

  it.each([
    ["a suite", {}, { suite: "bookworm", components: ["main"], isSigned: true, isExpired: false, isSecurity: false }],
    [
      "its components",
      { url: `${suite.url}-backports#main,contrib` },
      {
        suite: "bookworm-backports",
        components: ["main", "contrib"],
        isSigned: true,
        isExpired: false,
        isSecurity: false,
      },
    ],
    [
      "one that is no longer valid",
      { acceptsExpired: true },
      { suite: "bookworm", components: ["main"], isSigned: true, isExpired: true, isSecurity: false },
    ],
    [
      "one with security updates",
      { url: `${suite.url}-security`, purpose: "security" as const },
      { suite: "bookworm-security", components: ["main"], isSigned: true, isExpired: false, isSecurity: true },
    ],
    [
      "an unsigned one",
      { signer: null },
      { suite: "bookworm", components: ["main"], isSigned: false, isExpired: false, isSecurity: false },
    ],
  ])("have apt's source for %s", (_what, change, expected) => {
    const facts = debianFacts(debian, [{ ...suite, ...change }], []);
    expect(facts).toEqual({
      release: "bookworm",
      keys: [],
      sources: [{ url: "http://deb.example.org/debian", keys: [], ...expected }],
    });
  });

  it("have a flat repository as apt writes it, and none that only this service reaches or that has only some packages", () => {
    const flat = { ...suite, url: "https://example.org/flat" };
    const others = ["service:/user/7", `${suite.url}#main?kiwi-dracut-lib`].map((url) => ({ ...suite, url }));
    const { sources } = debianFacts(debian, [flat, ...others], []) ?? {};
    expect(sources).toEqual([
      {
        url: "https://example.org/flat",
        suite: "./",
        components: [],
        isSigned: true,
        keys: [],
        isExpired: false,
        isSecurity: false,
      },
    ]);
  });

  it("name the public mirror for a catalogue's repository, and leave those that people added", () => {
    const mirrored = {
      ...debian,
      publicMirrors: {
        "http://mirror.lan/debian": "http://deb.example.org/debian",
        "http://mirror.lan/security": "http://deb.example.org/debian-security",
      },
    };
    const urls = [
      { ...suite, url: "http://mirror.lan/security/dists/bookworm-security#main" },
      { ...suite, url: "http://mirror.lan/debian-ports/dists/bookworm" },
      { ...suite, url: "http://mirror.lan/debian/dists/bookworm", accountId: 3 },
    ];
    expect(debianFacts(mirrored, urls, [])?.sources.map(({ url }) => url)).toEqual([
      "http://deb.example.org/debian-security",
      "http://mirror.lan/debian-ports",
      "http://mirror.lan/debian",
    ]);
  });

  it("have the appliance's keys, and for a repository that someone added only its own", () => {
    const added = { ...suite, accountId: 3, signingKeys: [theirs] };
    const facts = debianFacts(debian, [suite, added, { ...added, signer: null }], [own]);
    expect(facts?.keys).toEqual([own]);
    expect(facts?.sources.map(({ keys }) => keys)).toEqual([[], [theirs], []]);
  });

  it("need the name of a release", () => {
    expect(() => debianFacts({ ...debian, detection: rpm.detection }, [], [])).toThrow(Refusal);
  });
});
