import { expect, it } from "vitest";
import { buildDifference, type ComparedBuild } from "#domain/difference/builds";
import type { SettingChange } from "#domain/difference/settings";
import { releaseNotesText } from "#documents/release-notes-text";

type Packages = Record<string, string>;

interface Made {
  selected?: string[];
  files?: Record<string, string>;
  bytes?: number;
}

const compared = (version: string, packages: Packages, { selected = [], files = {}, bytes = 1 }: Made = {}) =>
  ({
    build: { version, imageType: "oem", rawSize: 1, fileSize: bytes },
    input: {
      description: {},
      appliance: { id: 1, name: "Kiosk", version, arch: "x86_64" },
      selection: { packages: selected.map((name) => ({ name })), patterns: [] },
      repositories: [],
      files: Object.entries(files).map(([path, sha256]) => ({
        path,
        sha256,
        mode: 0o644,
        owner: "root",
        group: "root",
        size: 1,
      })),
    },
    packages: Object.entries(packages).map(([name, version]) => ({ name, version, arch: "x86_64" })),
  }) as unknown as ComparedBuild;

const notes = (from: ComparedBuild, to: ComparedBuild) =>
  releaseNotesText({
    applianceId: 1,
    version: "0.0.2",
    image: to,
    base: "Debian 13",
    own: [],
    ownFiles: [],
    since: buildDifference(from, to),
  });

const first = (image: ComparedBuild, own: string[] = [], ownFiles: string[] = []) =>
  releaseNotesText({ applianceId: 1, version: "0.0.1", image, base: "Debian 13", own, ownFiles });

const settingNotes = (image: ComparedBuild, settings: SettingChange[]) => {
  const since = { ...buildDifference(image, image), settings };
  return releaseNotesText({ applianceId: 1, version: "0.0.2", image, base: "", own: [], ownFiles: [], since });
};

const many = (version: string, name = "a") =>
  Object.fromEntries(Array.from({ length: 5000 }, (_, nth) => [`${name}-${nth}`, version]));

it("lists what was added, updated, removed and changed, in sentences", () => {
  const from = compared(
    "0.0.1",
    { openssl: "3.0.15-1", bash: "5.2-1+b1", "gnome-games": "45-1" },
    {
      files: { "/etc/motd": "1" },
      bytes: 10_000_000,
    },
  );
  const to = compared(
    "0.0.2",
    { openssl: "3.0.16-1", bash: "5.2-1+b2", nginx: "1.26.3-3", "nginx-common": "1.26.3-3" },
    {
      selected: ["nginx"],
      files: { "/etc/motd": "2", "/srv/a": "1" },
      bytes: 10_120_000,
    },
  );
  expect(notes(from, to)).toBe(
    [
      "Adds nginx 1.26.3 and 1 package it needs.",
      "Updates bash from 5.2-1+b1 to 5.2-1+b2 and openssl from 3.0.15 to 3.0.16.",
      "Removes gnome-games.",
      "Adds /srv/a.",
      "Changes /etc/motd.",
      "The download grew by 0.1 MB.",
      "",
    ].join("\n"),
  );
});

it("names some of many packages, and counts the others", () => {
  const text = notes(compared("0.0.1", many("1.0-1")), compared("0.0.2", many("2.0-1")));
  expect(text).toMatch(/^Updates a-0 from 1\.0 to 2\.0, .* and 4992 others\.\n$/);
});

it("fits into release notes if the names themselves are long", () => {
  const [one, other] = [many("1", "ä".repeat(3000)), many("2", "ä".repeat(3000))];
  const text = notes(compared("0.0.1", one), compared("0.0.2", other));
  expect(new TextEncoder().encode(text).length).toBeLessThan(64 * 1024);
});

it("reports that nothing but files of the system differs", () => {
  const one = compared("0.0.1", {});
  expect(notes(one, one)).toBe("Only files of the system differ from version 0.0.1.\n");
});

it("lists what the first version contains, without what the template has", () => {
  const image = compared("0.0.1", { nginx: "1:1.26.3-3", bash: "5.2-1" }, { bytes: 275_000_000 });
  expect(first(image, ["nginx"], ["/etc/motd"])).toBe(
    "The first version: Debian 13 with nginx 1.26.3.\nIt has its own files: /etc/motd.\n" +
      "It has 2 packages; the download is 275 MB.\n",
  );
  expect(first(compared("0.0.1", { bash: "5" }))).toMatch(/^The first version: Debian 13\.\nIt has 1 package;/);
});

it("calls settings as people do", () => {
  const image = compared("0.0.1", {});
  const settings = [
    { name: "timezone", from: "UTC", to: "Europe/Berlin" },
    { name: "hostname", to: "shop" },
  ];
  expect(settingNotes(image, settings)).toBe(
    "Changes the time zone from UTC to Europe/Berlin.\nSets the host name to shop.\n",
  );
});

it.each([
  ["a new user", { name: "user", item: "clerk", to: "ordinary user" }, "Adds the user clerk."],
  [
    "a new administrator",
    { name: "user", item: "clerk", to: "administrator" },
    "Adds the user clerk, an administrator.",
  ],
  ["a removed user", { name: "user", item: "clerk", from: "administrator" }, "Removes the user clerk."],
  [
    "a user with more rights",
    { name: "user", item: "clerk", from: "ordinary user", to: "administrator" },
    "The user clerk is now an administrator.",
  ],
  [
    "a user with fewer rights",
    { name: "user", item: "clerk", from: "administrator", to: "ordinary user" },
    "The user clerk is no longer an administrator.",
  ],
  ["a first key", { name: "ssh_keys", item: "clerk", to: "1 key" }, "The user clerk can log in with an SSH key."],
  ["no more keys", { name: "ssh_keys", item: "clerk", from: "1 key" }, "Removes the SSH keys of the user clerk."],
  [
    "another key",
    { name: "ssh_keys", item: "clerk", from: "1 key", to: "1 different key" },
    "Changes the SSH keys of the user clerk.",
  ],
])("names %s", (_what, setting, sentence) => {
  const image = compared("0.0.1", {});
  expect(settingNotes(image, [setting])).toBe(`${sentence}\n`);
});

it("does not list the keys of a user who is gone", () => {
  const settings = [
    { name: "user", item: "clerk", from: "ordinary user" },
    { name: "ssh_keys", item: "clerk", from: "1 key" },
  ];
  expect(settingNotes(compared("0.0.1", {}), settings)).toBe("Removes the user clerk.\n");
});
