/** Checks that each template of Tiny Linux matches its description, in the packages that a build would resolve. */
import { execFileSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { Catalogue } from "#model/catalogue";
import type { Job } from "#lib/solver/job";
import tiny from "../../templates/tiny.json" with { type: "json" };
import { solverOf, tinyLinux } from "./tiny-linux.ts";

const { baseSystem, repositories, sets } = Catalogue.parse(tiny);
const templates = sets.flatMap(({ templates: all }) => all);
type Template = (typeof templates)[number];
const arches = ["x86_64", "i586"] as const;
type Arch = (typeof arches)[number];

/** The contents of a template's image: the packages of its resolution, and their files. */
interface Image {
  packages: string[];
  files: string[];
  /** Text of all boot scripts. */
  scripts: string;
}

const login = ({ packages, files }: Image): void => {
  expect(packages).toEqual(expect.arrayContaining(["kernel-default", "grub2", "tiny-init"]));
  expect(files).toEqual(expect.arrayContaining(["/etc/inittab", "/usr/bin/bash"]));
};
const webServer = ({ files, scripts }: Image): void => {
  expect(scripts).toMatch(/\bhttpd -h \/srv\/www -p 80\b/);
  expect(files).toContain("/srv/www/index.html");
};
const mono = ({ files }: Image): void => expect(files).toContain("/usr/bin/mono-demo");

/** Keyed by sentence, so that a new sentence in a template requires a new check. */
const promises: Record<string, ((image: Image) => void)[]> = {
  "The smallest system that boots to a login prompt": [login],
  "A text mode system with a small web server": [login, webServer],
  "Text mode, with a stand-in for the Mono runtime": [login, mono],
  "A stand-in for the Mono runtime, and a small web server": [login, mono, webServer],
};

let folder: string;
beforeAll(async () => {
  folder = await tinyLinux();
}, 600_000);

async function packagesOf({ imageType, packages, patterns }: Template, arch: Arch) {
  const named = repositories.map(({ key }) => ({ name: key, folder: join(folder, key) }));
  const solver = await solverOf(named, arch === "i586" ? "i686" : arch);
  const jobs: Job[] = [
    ...patterns.map((name): Job => ({ kind: "installPattern", name })),
    ...[...packages, ...(baseSystem.needs[imageType] ?? [])].map((name): Job => ({ kind: "install", name })),
  ];
  const answer = solver.solve(jobs, { recommended: false });
  if (answer.state !== "solved") throw new Error(JSON.stringify(answer));
  return answer.packages;
}

async function imageOf(template: Template, arch: Arch): Promise<Image> {
  const found = await packagesOf(template, arch);
  const paths = found.flatMap(({ name, version, release, arch: its }) =>
    globSync(join(folder, `{main,updates}/**/${name}-${version}-${release}.${its}.rpm`)),
  );
  expect(paths).toHaveLength(found.length);
  const files = execFileSync("rpm", ["-qpl", "--nosignature", ...paths], { encoding: "utf8" }).split("\n");
  return { packages: found.map(({ name }) => name), files, scripts: paths.map(bootScriptsOf).join("") };
}

const bootScriptsOf = (path: string): string =>
  execFileSync("sh", ["-c", 'rpm2cpio "$1" | cpio -i --quiet --to-stdout "./etc/init.d/*"', "sh", path], {
    encoding: "utf8",
  });

const cases = templates.flatMap((template) => arches.map((arch) => ({ ...template, template, arch })));

describe("a template of Tiny Linux", () => {
  it.each(cases)('keeps its promise "$description": $name, $arch', async ({ template, arch, description }) => {
    const image = await imageOf(template, arch);
    const promised = promises[description] ?? expect.fail(`no test of the description: ${description}`);
    for (const check of promised) check(image);
  });

  it.each(arches)("is the smallest one if it says so, on %s", async (arch) => {
    const sizes = await Promise.all(templates.map(async (one) => (await packagesOf(one, arch)).length));
    const [least = 0] = sizes.toSorted((a, b) => a - b);
    expect(sizes[templates.findIndex(({ description }) => description.includes("smallest"))]).toBe(least);
  });
});
