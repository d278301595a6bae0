/** Catalogue files that extend another file. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { Catalogue } from "#model/catalogue";
import { readCatalogue } from "../../scripts/launch/catalogue-file.ts";

const parent = {
  name: "linux-1",
  baseSystem: {
    title: "Linux 1",
    needs: { disk: ["grub"], live: ["syslinux"] },
    bootstrap: ["apt", "bash", "e2fsprogs", "tar"],
    until: "2030-01-01",
  },
  keys: ["first", "another"],
  sets: [
    {
      name: "linux-1",
      templates: [
        { name: "Linux 1, JeOS", applianceId: 1, packages: ["bash", "dhclient", "linux"] },
        { name: "Linux 1, Server", applianceId: 2, packages: ["apache", "bash"] },
      ],
    },
  ],
};

const folder = mkdtempSync(join(tmpdir(), "kiln-catalogues-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Reads `child.json`, which extends `parent.json`. Other files may be in the folder `changes`. */
function read(changes: object, others: Record<string, object> = {}): unknown {
  const files = { parent, child: { extends: "parent.json", ...changes }, ...others };
  const place = mkdtempSync(join(folder, "case-"));
  mkdirSync(join(place, "changes"));
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(place, `${name}.json`), JSON.stringify(content));
  return readCatalogue(join(place, "child.json"));
}

describe("a catalogue file that extends another one", () => {
  it("is its parent if it changes nothing", () => {
    expect(read({})).toEqual(parent);
  });
  it("replaces texts wherever the parent has them", () => {
    const text = JSON.stringify(parent).replaceAll("linux-1", "linux-2").replaceAll("Linux 1", "Linux 2");
    expect(read({ replace: { "linux-1": "linux-2", "Linux 1": "Linux 2" } })).toEqual(JSON.parse(text));
  });
  it("changes, adds and removes keys of an object", () => {
    const baseSystem = { until: null, since: "2026", needs: { remove: ["live"], disk: ["grub2"] } };
    expect(read({ baseSystem })).toEqual({
      ...parent,
      baseSystem: { ...parent.baseSystem, until: null, since: "2026", needs: { disk: ["grub2"] } },
    });
  });
  it("replaces a list by a list", () => {
    expect(read({ keys: ["third"] })).toEqual({ ...parent, keys: ["third"] });
  });
  it("adds to a list and removes from it, and keeps an alphabetical order", () => {
    const changes = {
      keys: { add: ["alpha"] },
      baseSystem: { bootstrap: { remove: ["e2fsprogs"], add: ["dash", "awk"] } },
    };
    expect(read(changes)).toMatchObject({
      keys: ["first", "another", "alpha"],
      baseSystem: { bootstrap: ["apt", "awk", "bash", "dash", "tar"] },
    });
  });
  it("removes an element of a list by its name", () => {
    const sets = { "linux-1": { templates: { remove: ["Linux 1, Server"] } } };
    const [jeos] = parent.sets[0]?.templates ?? [];
    expect(read({ sets })).toMatchObject({ sets: [{ templates: [jeos] }] });
  });
  it("sorts a list again in which it replaces a text", () => {
    const sets = [{ templates: [{ packages: ["bash", "linux", "network"] }, {}] }];
    expect(read({ replace: { dhclient: "network" } })).toMatchObject({ sets });
  });
  it("changes an element of a list by its name, after the texts were replaced", () => {
    const sets = { "linux-1": { templates: { "Linux 2, Server": { applianceId: 12 } } } };
    expect(read({ replace: { "Linux 1": "Linux 2" }, sets })).toMatchObject({
      sets: [
        {
          templates: [
            { name: "Linux 2, JeOS", applianceId: 1 },
            { name: "Linux 2, Server", applianceId: 12, packages: ["apache", "bash"] },
          ],
        },
      ],
    });
  });
  it("changes each element of a list that it keeps, and not those that it adds", () => {
    const added = { name: "Linux 1, Mail", packages: ["postfix"] };
    const templates = { remove: ["Linux 1, Server"], each: { packages: { add: ["vim"] } }, add: [added] };
    const [jeos] = parent.sets[0]?.templates ?? [];
    const changed = { ...jeos, packages: ["bash", "dhclient", "linux", "vim"] };
    expect(read({ sets: { "linux-1": { templates } } })).toMatchObject({ sets: [{ templates: [changed, added] }] });
  });
  it("may extend one that extends another", () => {
    const middle = { extends: "parent.json", keys: ["middle"], baseSystem: { until: "2031-01-01" } };
    expect(read({ extends: "middle.json", baseSystem: { title: "Linux 3" } }, { middle })).toEqual({
      ...parent,
      keys: ["middle"],
      baseSystem: { ...parent.baseSystem, until: "2031-01-01", title: "Linux 3" },
    });
  });
  it("gets changes that several catalogues share, and then its own", () => {
    const shared = { replace: { grub: "systemd-boot" }, baseSystem: { until: "2031-01-01", title: "Linux 2" } };
    expect(read({ changes: "port.json", baseSystem: { title: "Linux 3" } }, { "changes/port": shared })).toEqual({
      ...parent,
      baseSystem: {
        ...parent.baseSystem,
        needs: { disk: ["systemd-boot"], live: ["syslinux"] },
        until: "2031-01-01",
        title: "Linux 3",
      },
    });
  });
  it("names the file of shared changes that do not fit its parent", () => {
    const others = { "changes/port": { baseSystem: { remove: ["cannot"] } }, "changes/wrong": { replace: "all" } };
    expect(() => read({ changes: "port.json" }, others)).toThrow(/port\.json: Its parent has no "cannot"/);
    expect(() => read({ changes: "wrong.json" }, others)).toThrow(/wrong\.json cannot change a catalogue/);
    expect(() => read({ changes: "none.json" }, others)).toThrow(/There is no file .*changes\/none\.json/);
  });
});

describe("a template that is like another one", () => {
  const like = { name: "Linux 1, Mail", like: "Linux 1, Server", applianceId: 3 };

  it("has what the other has, with its changes", () => {
    const add = [{ ...like, packages: { remove: ["apache"], add: ["postfix"] } }];
    const templates = [
      ...(parent.sets[0]?.templates ?? []),
      { name: "Linux 1, Mail", applianceId: 3, packages: ["bash", "postfix"] },
    ];
    expect(read({ sets: { "linux-1": { templates: { add } } } })).toMatchObject({ sets: [{ templates }] });
  });

  it("may be like one that is like another, and is inherited whole", () => {
    const third = { name: "Linux 1, List", like: "Linux 1, Mail", packages: { add: ["mailman"] } };
    const middle = { extends: "parent.json", sets: { "linux-1": { templates: { add: [like, third] } } } };
    const changes = { "Linux 1, List": { packages: { add: ["vim"] } }, remove: [] };
    expect(read({ extends: "middle.json", sets: { "linux-1": { templates: changes } } }, { middle })).toMatchObject({
      sets: [{ templates: [{}, {}, {}, { applianceId: 3, packages: ["apache", "bash", "mailman", "vim"] }] }],
    });
  });

  it("is refused if no earlier one has that name", () => {
    const add = [{ ...like, like: "Linux 1, Mail" }];
    const message = /child\.json: No earlier element is named "Linux 1, Mail"/;
    expect(() => read({ sets: { "linux-1": { templates: { add } } } })).toThrow(message);
  });
});

it.each([
  ["a parent that does not exist", { extends: "nothing.json" }, "There is no file"],
  ["itself", { extends: "child.json" }, "extends itself"],
  ["a file in another folder", { extends: "../parent.json" }, "not the name of a file"],
  ["a key that the parent lacks", { baseSystem: { remove: ["cannot"] } }, 'no "cannot" to change or remove'],
  ["an element that the parent lacks", { sets: { "linux-2": {} } }, 'no "linux-2" to change or remove'],
  ["a text that the parent's list lacks", { keys: { remove: ["third"] } }, 'no "third" to change or remove'],
])("a catalogue that extends or changes %s is refused", (_, changes, message) => {
  expect(() => read(changes)).toThrow(message);
});

const shipped = join(import.meta.dirname, "../../templates");
it.each(readdirSync(shipped).filter((file) => file.endsWith(".json")))("the shipped catalogue %s is whole", (file) => {
  expect(() => Catalogue.parse(readCatalogue(join(shipped, file)))).not.toThrow();
});
