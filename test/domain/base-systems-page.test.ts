import { expect, it } from "vitest";
import { imageFormats, imageTypes, productNames, type ImageType, type Product } from "#lib/contract/index";
import { Catalogue, reasonAgainst } from "#model/catalogue";
import page from "../../docs/base-systems.md?raw";
import tiny from "../../templates/tiny.json";
import { debian12, debian13 } from "../support/catalogues.ts";

const catalogues = [debian12, debian13, tiny].map((file) => Catalogue.parse(file));

/** The name that readers use for a product. */
const products: Readonly<Record<Product, string>> = {
  disk: "disks in any container, such as `oem`",
  live: "`iso`",
  installer: "`oemiso`",
  network: "`net`",
  container: "`oci`, `wsl`",
};

/** The catalogue's facts about an image type: its architectures and firmware, or why it is not offered. */
function cell({ baseSystem, repositories }: Catalogue, imageType: ImageType): string {
  const reason = reasonAgainst(baseSystem, imageType);
  if (reason !== undefined) return `no: ${reason}`;
  const arches = [...new Set(repositories.flatMap((one) => one.arches))].map((arch) =>
    arch === "i586" ? "i686" : arch,
  );
  return `${arches.join(", ")}; ${firmware(baseSystem, imageType)}`;
}

function firmware({ efiBootLoaders = [] }: Catalogue["baseSystem"], imageType: ImageType): string {
  const { product } = imageFormats[imageType];
  if (product === "network") return "starts from a network";
  if (product === "container") return "runs on the kernel of its host";
  const [loader] = efiBootLoaders;
  return loader === undefined ? "BIOS" : `BIOS, and UEFI (x86_64) with \`${loader}\``;
}

/** One row for all types of a product, plus one for each type that differs from the first. */
function rowsOf(product: Product): string[][] {
  const cells = imageTypes
    .filter((type) => imageFormats[type].product === product)
    .map((type) => [`\`${type}\``, ...catalogues.map((catalogue) => cell(catalogue, type))]);
  const [[, ...first] = [], ...others] = cells;
  return [[products[product], ...first], ...others.filter(([, ...own]) => own.join() !== first.join())];
}

function table(): string {
  const titles = catalogues.map(({ baseSystem }) => baseSystem.title);
  const rows = productNames.flatMap((product) => rowsOf(product));
  const lines = [["Format", ...titles], ["---", ...titles.map(() => "---")], ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

it("shows what each catalogue can be built as", () => {
  expect(page).toContain(`\n\n${table()}\n\n`);
});
