import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { importRepository } from "#domain/repositories/import";
import { openDatabase } from "#storage/db";
import { addRepository } from "#storage/repositories";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { mirrorOf, publish, rpmMd } from "../support/mirror.ts";
import { tinyRepository } from "../support/repositories.ts";
import { readXml } from "../support/xml.ts";

const db = openDatabase(env);
const long = "a-name-of-more-than-fifty-bytes-which-like-cannot-find-at-all";

let main: number;
let tux: Client;
let id: number;
beforeAll(async () => {
  await loadTemplates();
  main = await tinyRepository("main");
  const packages = [
    "libqt4-4.8",
    "qt-4.8",
    "qtcreator-2.0-7.noarch",
    "apport_qt-1",
    "aaaXbase-1",
    "aaa_base-1",
    "gcc-c++-4",
    "archer-wide-1-1.x86_64",
    "archer-old-1-1.i686",
    "archer-far-1-1.aarch64",
  ];
  await publish("tiny/main", rpmMd([...packages, "patterns-x-1 provides pattern() = desktop", `${long}-1`]));
  await importRepository({ env, db }, main);
  tux = await signedIn();
  id = await createAppliance(tux);
});

/** Names of packages and patterns, in the order of the answer. */
async function found(query: string, who = tux, appliance = id): Promise<string[]> {
  const answer = await who.get(`/appliances/${appliance}/software/search?${query}`);
  const { software_map: map } = await readXml(answer);
  expect([map["@type"], map["@appliance_id"]]).toEqual(["array", String(appliance)]);
  // oxlint-disable-next-line typescript/no-explicit-any -- one is an object, several are an array
  const repositories = [map.repository ?? []].flat() as any[];
  return repositories.flatMap(({ software }) =>
    [...[software.package ?? []].flat(), ...[software.pattern ?? []].flat()].map((one) => one["#text"]),
  );
}

describe("GET /appliances/<id>/software/search", () => {
  it("omits packages for other architectures", async () => {
    const i586 = await createAppliance(tux, { arch: "i686" });

    expect(await found("q=archer")).toEqual(["archer-old", "archer-wide"]);
    expect(await found("q=archer", tux, Number(i586))).toEqual(["archer-old"]);
  });

  it("shows packages by repository, in the form of installed software", async () => {
    const { software_map: map } = await readXml(await tux.get(`/appliances/${id}/software/search?q=qtcreator`));
    expect(map.repository).toEqual({
      "@base_url": "https://kiln.test/repositories/tiny/main",
      "@name": "Tiny Linux 1.0 main",
      "@id": String(main),
      software: {
        "@type": "array",
        package: {
          "@arch": "noarch",
          "@checksum": "0".repeat(64),
          "@version": "2.0-7",
          "@checksum_type": "SHA256",
          "#text": "qtcreator",
        },
      },
    });
  });

  it.each([
    ["qt", ["qt", "qtcreator", "apport_qt", "libqt4"]],
    ["QT", ["qt", "qtcreator", "apport_qt", "libqt4"]],
    ["q", ["qt", "qtcreator", "apport_qt", "libqt4"]],
    ["libQ", ["libqt4"]],
    ["aaa_", ["aaa_base"]],
    ["_b", ["aaa_base"]],
    ["a%b", []],
    ["%25", []],
    ["\\", []],
    ["'", []],
    ['"qt"', []],
    ["c%2b%2b", ["gcc-c++"]],
    ["desktop", ["desktop"]],
    ["patterns-x", ["desktop"]],
    [long.toUpperCase(), [long]],
    ["Summary of qt", []],
    ["grüße", []],
    ["nothing-has-this-name", []],
  ])("finds for %s by name: %j", async (q, names) => {
    expect(await found(`q=${q}`)).toEqual(names);
  });

  it("searches summaries and descriptions on request", async () => {
    expect(await found("q=summary+of+qt&all_fields=True")).toEqual(["qt", "qtcreator"]);
    expect(await found("q=what+libqt4+DOES&all_fields=1")).toEqual(["libqt4"]);
    expect(await found("q=what+libqt4+does&all_fields=0")).toEqual([]);
  });

  it("returns summaries and sizes in JSON, and as many hits as requested", async () => {
    const path = `/appliances/${id}/software/search?q=qt&limit=2`;
    const answer = await tux.get(path, { headers: { accept: "application/json" } });
    const map = await answer.json();

    expect(map).toMatchObject({
      appliance_id: id,
      software_map: [
        {
          software: {
            package: [
              {
                value: "qt",
                summary: "Summary of qt",
                download_size: expect.any(Number),
                installed_size: expect.any(Number),
              },
              { value: "qtcreator", summary: "Summary of qtcreator" },
            ],
          },
        },
      ],
    });
    expect(await (await tux.get(path)).text()).not.toContain("ummary");
  });

  it("searches all visible repositories on request", async () => {
    const url = "http://mirror.example.org/own";
    const row = {
      accountId: tux.accountId,
      name: "Own",
      url,
      type: "rpm-md",
      baseSystem: "other",
      arches: [],
    } as const;
    const own = await addRepository(db, { ...row, arches: [] });
    await importRepository({ env, db }, own?.id ?? 0, mirrorOf({ [url]: rpmMd(["libqt5-5"]) }));

    expect(await found("q=libqt")).toEqual(["libqt4"]);
    expect((await found("q=libqt&all_repos=true")).toSorted()).toEqual(["libqt4", "libqt5"]);
    expect(await found("q=libqt&all_repos=true", await signedIn(), 1)).toEqual(["libqt4"]);

    // No image contains packages of both kinds.
    await env.DB.prepare("UPDATE repositories SET type = 'deb' WHERE id = ?").bind(own?.id).run();
    expect(await found("q=libqt&all_repos=true")).toEqual(["libqt4"]);
  });

  it("returns an empty map if nothing matches", async () => {
    const answer = await tux.get(`/appliances/${id}/software/search?q=nothing-has-this-name`);
    expect((await answer.text()).trim()).toBe(`<software_map type="array" appliance_id="${id}">\n</software_map>`);
  });
});
