/** Publishes images of Tiny Linux, and has a stranger build each again: `npm run bench -- proof/published`. */
import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { imageTypes, type ImageType } from "../../builder-agent/src/contract.ts";
import { Chance } from "../../scripts/chance.ts";
import { verdict, type Figure } from "../figure.ts";
import type { Place } from "../place.ts";
import { Workshop } from "./workshop.ts";

/** An image that a publisher requests. */
interface Wish {
  name: string;
  template: number;
  format: ImageType;
  packages: string[];
  settings: string[];
  motd: string;
}

const packages = ["hello", "hello-docs", "hello-lang", "libgreet"];
/** This package conflicts with libgreet, which the other packages use. */
const alone = "greet-classic";
const zones = ["Europe/Vienna", "Asia/Tokyo", "America/Bogota", "Etc/UTC"];
const formats = imageTypes.filter((type) => type !== "oemiso");

/** The seed determines everything. The formats take turns. */
export function wishesOf(seed: number, count: number): Wish[] {
  const chance = new Chance(seed);
  return Array.from({ length: count }, (_, nth) => ({
    name: `Proof-${nth + 1}`,
    template: chance.between(1, 4),
    format: formats[(nth + seed) % formats.length] ?? "oem",
    packages: chance.between(0, 4) === 0 ? [alone] : packages.filter(() => chance.between(0, 2) === 0),
    settings: [
      `locale.timezone.location=${chance.oneOf(zones)}`,
      `settings.memory_size=${chance.between(128, 512)}`,
      `scripts.build.script=echo ${chance.between(1, 999)} > /etc/number`,
      "scripts.build.enabled=true",
    ],
    motd: `Welcome, ${chance.between(1, 1e6)}.\n`,
  }));
}

/** `KILN_PROOF="SEED COUNT"` replaces the default seed (1) and number of images (20). */
export async function measurePublished(place: Place): Promise<Figure[]> {
  const [seed = 1, count = 20] = (process.env["KILN_PROOF"] ?? "1 20").split(" ").map(Number);
  await using workshop = await Workshop.open();
  await workshop.agent("builder");
  const figures: Figure[] = [];
  for (const wish of wishesOf(seed, count)) {
    const figure = await provePublished(workshop, wish);
    place.say(`${figure.what}: ${figure.ratio}`);
    figures.push(figure);
  }
  return figures;
}

/** Builds and publishes the requested image. Then a stranger builds it again. */
export async function provePublished(workshop: Workshop, wish: Wish): Promise<Figure> {
  const provenance = `${await publish(workshop, wish)}.intoto.jsonl`;
  const { code, stdout, stderr } = await workshop.rebuildElsewhere(provenance);
  const line = stdout.trim() || stderr.trim();
  const [here = "none"] = /[0-9a-f]{64}/.exec(line) ?? [];
  return {
    what: `${wish.format}, template ${wish.template}, ${wish.packages.join(" ") || "no package more"}`,
    ours: basename(provenance),
    against: here.slice(0, 16),
    ratio: code === 0 ? "same" : line,
    bar: "same",
    verdict: verdict(code === 0),
  };
}

async function publish(workshop: Workshop, wish: Wish): Promise<string> {
  const { name, template, format, packages: more, settings, motd } = wish;
  const file = join(workshop.folder, "motd");
  writeFileSync(file, motd);
  await workshop.kiln(["clone", String(template), name]);
  if (more.length > 0) await workshop.kiln(["add", name, ...more]);
  await workshop.kiln(["config", "set", name, ...settings]);
  await workshop.kiln(["file", "add", name, file, "--path", "/etc"]);
  await workshop.kiln(["build", name, "--type", format, "--follow"]);
  return await workshop.publish(name);
}
