import { randomBytes } from "node:crypto";
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newMachine, run, type Machine } from "../../cli/test/support/machine.ts";
import type { Ready } from "./support/service.ts";
import { addAccount, sharedService } from "./support/shared-service.ts";

const project = fileURLToPath(new URL("../..", import.meta.url));
const read = (page: string) => readFileSync(join(project, page), "utf8");

/** Pages whose commands are not run here, with the reasons. */
const elsewhere: Record<string, string> = {
  "README.md": "command-line.test.ts runs them",
  "cli/README.md": "the same lines",
  "docs/api/attestations.md": "attestation-docs.test.ts runs them",
  "docs/api/testdrives.md": "testdrive-network.test.ts asks the guest's web server",
  "docs/rebuilds.md": "rebuilds.test.ts builds the images twice",
  "docs/checks.md": "checks.test.ts builds and boots the image that they need",
  "docs/sign-in.md": "they end a browser's session, which pages.test.ts does",
  "docs/schematics.md": "schematic-addresses.test.ts asks for addresses, and cli/test/definitions.test.ts prints them",
  "docs/api/generated-clients.md": "the generators are not packages of this project",
};

/** The blocks of commands on a page, in its order. */
const blocksOf = (page: string): string[] =>
  [...read(page).matchAll(/^ *```(\w*)\n([\s\S]*?)^ *```$/gm)]
    .filter(([, language = ""]) => ["", "bash", "sh"].includes(language))
    .map(([, , block = ""]) => block)
    .filter((block) => /^ *(?:\$ )?(?:api|curl|kiln|npx) /m.test(block) || /^ *KEY=/m.test(block));

let machine: Machine;
let account: Ready;
/** Texts of the pages, with their replacements in this run. */
let known: [written: string | RegExp, meant: string][];

beforeAll(async () => {
  machine = newMachine();
  account = await addAccount(await sharedService("with-agent"), "documents");
  const { url, username, api_key: key } = account;
  known = [
    ["https://kiln.example.org", url],
    ["http://127.0.0.1:8787", url],
    ["tux:KEY", `${username}:${key}`],
    ["tux:", `${username}:`],
    ["KEY=…", `KEY=${key}`],
    ["curl -N ", "curl -N --max-time 2 "], // a stream has no end
  ];
});
afterAll(() => machine[Symbol.dispose]());

/** Runs commands exactly as a page shows them, and returns their output. */
async function runAs(written: string, { before = "", input = "" } = {}): Promise<string> {
  const { url, username, api_key: key } = account;
  const preamble = `KEY=${key} me=${username}:${key} api=${url}/api/v2/user\n${before}\n`;
  const script = known.reduce((text, [from, to]) => text.replaceAll(from, to), written);
  const ended = await run("bash", ["-ec", preamble + script], { env: machine.env, input, cwd: machine.folder });
  const streamed = script.includes("--max-time") && ended.code === 28;
  expect(ended, `${script}\n${ended.stdout}${ended.stderr}`).toMatchObject({ code: streamed ? 28 : 0 });
  expect(ended.stdout, script).not.toMatch(/<error>|"error":/);
  return ended.stdout;
}

const idIn = (answer: string): string => /<id>(\d+)<\/id>/.exec(answer)?.[1] ?? expect.fail(answer);

/** How the blocks of each page are run. The order matters, because later pages use the results of earlier ones. */
const runs: Record<string, () => Promise<void>> = {
  "docs/first-appliance.md": async () => {
    const [prepare = "", templates = "", clone = "", ...rest] = blocksOf("docs/first-appliance.md");
    const before = known.reduce((text, [from, to]) => text.replaceAll(from, to), prepare);
    expect(await runAs(templates, { before })).toContain("<appliance_id>1</appliance_id>");
    known.push(["1000", idIn(await runAs(clone, { before }))]);
    for (const block of rest) {
      const [start = "", ...watch] = block.split(/\n(?= *api GET +.running_builds)/);
      const answer = await runAs(start, { before });
      if (watch.length === 0) continue;
      known.push(["running_builds/1", `running_builds/${idIn(answer)}`], ["build_id=1", `build_id=${idIn(answer)}`]);
      for (const line of watch) await runAs(line, { before });
      await runAs(`until api GET /running_builds/1 | grep "<state>finished"; do sleep 0.5; done`, { before });
    }
  },
  "docs/command-line.md": async () => {
    const [login = "", first = "", ci = "", imported = ""] = blocksOf("docs/command-line.md");
    const forAccount = login.replace("login ", `login --account ${account.username} `); // a user types it
    await runAs(forAccount, { input: `${account.api_key}\n` });
    known.push(["First", "Second"]); // the previous page has made an appliance of that name
    writeFileSync(join(machine.folder, "motd"), "Welcome\n");
    expect(await runAs(first)).toMatch(/oem.*\n[^]*iso/);

    const scope = "name=documents&scope=build";
    known.push(["KILN_ACCOUNT=mira", `KILN_ACCOUNT=${account.username}`]);
    known.push([/kiln_hV3q…/g, tokenIn(await runAs(`curl -s -u $me -X POST "$api/tokens?${scope}"`))]);
    const keys = "curl -s https://kiln.example.org/.well-known/kiln-attestation-keys.json";
    await runAs(`${keys} | node -p 'JSON.parse(fs.readFileSync(0)).keys[0].pem' > kiln.pem`);
    expect(await runAs(ci)).toContain("verified");

    mkdirSync(join(machine.folder, "kiosk"));
    writeFileSync(join(machine.folder, "kiosk/config.xml"), description);
    known.push(["suse-15.6", "tiny-1.0"], ["PASSWORD_ROOT=…", "PASSWORD_ROOT=secret-of-kiosk"]);
    await runAs(imported);
  },
  "docs/first-boot.md": async () => {
    writeFileSync(join(machine.folder, "desk1.yaml"), "#cloud-config\nhostname: desk1\n");
    const config = /^```json\n([^]*?)^```$/m.exec(read("docs/first-boot.md"))?.[1] ?? "";
    writeFileSync(join(machine.folder, "desk1.ign"), config);
    for (const start of blocksOf("docs/first-boot.md")) {
      expect(await runAs(start)).toMatch(/\/testdrive\/\d+\//);
      const started = await runAs(`curl -s -u $me "$api/testdrives"`);
      await runAs(`curl -s -u $me -X DELETE "$api/testdrives/${idIn(started)}"`);
    }
  },
  "docs/updates.md": async () => {
    const [look = "", , follow = "", window = "", update = "", choose = ""] = blocksOf("docs/updates.md");
    expect(await runAs(look)).toBe(
      "The repositories have no newer versions.\nThe repositories have no security updates.\n",
    );
    const [, from = ""] = /The disk was made from (images\/\S+\.tar\.gz) and /.exec(await runAs(update)) ?? [];
    expect(from).toContain("oem");
    const chosen = await runAs(choose.replace(/\/srv\/\S+/, from));
    expect(chosen).toContain(`The disk was made from ${from} and `);
    expect(chosen).toMatch(/\nwhole\/\S+\.tar\.gz is verified\./);
    await runAs(follow);
    await runAs(window);
    expect(await runAs("kiln config get First settings")).toContain("sat,sun 02:00-05:00");
  },
  "docs/find-images.md": async () => {
    const [find = ""] = blocksOf("docs/find-images.md");
    // The chore that lists the packages runs every minute.
    expect(await runAs(`until ${find.trim()} | grep PACKAGES; do sleep 1; done`)).toContain("BUILD");
  },
  "docs/advisories.md": async () => {
    const [look = "", beTold = "", state = ""] = blocksOf("docs/advisories.md");
    expect(await runAs(`! ${look.trim()}`)).toContain("no advisories of this base system");
    expect(await runAs(beTold)).toMatch(/^Webhook \d+\. Its secret/);
    expect(await runAs(state)).toContain("vulnerable_code_not_in_execute_path");
  },
  "docs/automatic-updates.md": async () => {
    const [choose = ""] = blocksOf("docs/automatic-updates.md");
    // The base system of these pages has no packages for it.
    expect(await runAs(`! ${choose.trim()} 2>&1`)).toContain("Kiln knows no packages of Tiny Linux");
  },
  "docs/file-systems.md": async () => {
    const [choose = ""] = blocksOf("docs/file-systems.md");
    expect(await runAs(`! ${choose.trim()} 2>&1`)).toContain("Kiln knows no packages of Tiny Linux");
  },
  "docs/disk-encryption.md": async () => {
    const [choose = ""] = blocksOf("docs/disk-encryption.md");
    expect(await runAs(`! ${choose.trim()} 2>&1`)).toContain("Kiln knows no packages of Tiny Linux");
  },
  "docs/appliance-file.md": async () => {
    const [lines = "", shown = ""] = blocksOf("docs/appliance-file.md");
    expect(shown).toMatch(/^\$ kiln plan kiosk\.yaml\n/); // the output of the second line
    expect(await runAs(lines)).toContain("kiosk.yaml");
  },
  "docs/api/definitions.md": async () => {
    const [plan = "", content = ""] = blocksOf("docs/api/definitions.md");
    expect(await runAs(plan)).toContain('"plan"');
    expect(await runAs(content.split("\n")[0] ?? "")).toContain('"sha256"');
  },
  "docs/api/json.md": async () => {
    for (const block of blocksOf("docs/api/json.md")) await runAs(block);
  },
  "docs/api/difference.md": async () => {
    const listed = await runAs(`kiln show Second --json`);
    const [older, newer] = [...listed.matchAll(/"id": (\d+),\s+"version"/g)].map(([, id = ""]) => id);
    known.push(["builds/31", `builds/${older}`], ["to=32", `to=${newer}`]);
    for (const block of blocksOf("docs/api/difference.md")) expect(await runAs(block)).toMatch(/\S/);
  },
  "docs/channels.md": async () => {
    const [move = "", download = ""] = blocksOf("docs/channels.md");
    const { appliance } = JSON.parse(await runAs("kiln show Second --json")) as Shown;
    const version = appliance.builds.at(-1)?.version ?? expect.fail("Second has no image");
    await runAs(`curl -s -u $me -X POST "$api/gallery/appliances/${appliance.id}/version/${version}"`);
    const pairs = [
      ["--version 0.0.2", `--version ${version}`],
      ["image/tux/1004", `image/${account.username}/${appliance.id}`],
      ["1004:oem", `${appliance.id}:oem`],
    ] as const;
    const asHere = (block: string) => pairs.reduce((text, [from, to]) => text.replaceAll(from, to), block);
    expect(await runAs(asHere(move))).toMatch(/^stable .*\/stable\/oem$/m);
    expect(await runAs(`mkdir channel\ncd channel\n${asHere(download)}`)).toMatch(/: OK\n[^]*verified/);
  },
  "docs/api/public-log.md": async () => {
    const [check = "", compare = ""] = blocksOf("docs/api/public-log.md");
    expect(await runAs(check)).toMatch(/\d/);
    expect(await runAs(compare)).toMatch(/\d/);
  },
  "docs/secure-boot.md": async () => {
    const [add = ""] = blocksOf("docs/secure-boot.md");
    // The base system of these pages has no signed boot loaders.
    expect(await runAs(`! ${add.trim()} 2>&1`)).toContain("package shim-signed does not exist");
  },
  "docs/api/events.md": async () => {
    const [follow = ""] = blocksOf("docs/api/events.md");
    for (const line of follow.trim().split("\n")) await runAs(line);
  },
  "docs/api/tokens.md": async () => {
    const [make = "", use = ""] = blocksOf("docs/api/tokens.md");
    known.push(["kiln_hV3q0yQm5oVbJ2kq4s8nW1xZ7cR9tL6d", tokenIn(await runAs(make))]);
    known.push(["image_type=oem", "image_type=oem&force=true"]);
    expect(idIn(await runAs(use))).toMatch(/^\d+$/);
  },
  "docs/api/uploads.md": async () => {
    known.unshift(["1004", "1000"]); // the appliance of the other pages
    writeFileSync(join(machine.folder, "model.bin"), randomBytes(60_000_000));
    for (const block of blocksOf("docs/api/uploads.md")) await runAs(block);
    expect(await runAs(`curl -s -u $me "$api/files?appliance_id=1000"`)).toContain("<size>60000000</size>");
  },
};

/** The output of `kiln show --json`. */
interface Shown {
  appliance: { id: number; builds: { version: string }[] };
}

const tokenIn = (answer: string): string => /<secret>(kiln_[^<]+)<\/secret>/.exec(answer)?.[1] ?? expect.fail(answer);

const description = `<?xml version="1.0"?>
<image schemaversion="7.4" name="Kiosk">
  <description type="system"><author>A</author><contact>a@example.org</contact><specification>A kiosk</specification></description>
  <preferences><version>1.0.0</version><packagemanager>zypper</packagemanager><type image="oem" filesystem="ext4"/></preferences>
  <users><user name="root" password="$6$salt$hash" groups="root"/></users>
  <packages type="image"><package name="hello"/></packages>
</image>
`;

describe("the commands of the docs", () => {
  it("are run here or elsewhere, on every page", () => {
    const pages = globSync(["README.md", "cli/README.md", "docs/**/*.md"], { cwd: project })
      .filter((page) => !page.startsWith("docs/decisions/") && blocksOf(page).length > 0)
      .toSorted();
    expect(pages).toEqual([...Object.keys(elsewhere), ...Object.keys(runs)].toSorted());
  });

  for (const [page, act] of Object.entries(runs)) it(`work as ${page} has them`, act);
});
