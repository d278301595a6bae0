/** The parts of an agent's report of packages that must be the same for equal images. */
import { createHash } from "node:crypto";
import type { InstalledPackage } from "#lib/contract/index";

type Named = Pick<InstalledPackage, "name" | "epoch" | "version" | "release" | "arch">;

const lineOf = ({ name, epoch = "0", version, release, arch }: Named): string =>
  `${name}-${epoch}:${version}-${release}.${arch}`.toWellFormed();

/** One line for each package, sorted. */
export const packageList = (installed: readonly Named[]): string[] => [...new Set(installed.map(lineOf))].toSorted();

/** SHA-256 of these lines, in hex. */
export const packageListDigest = (installed: readonly Named[]): string =>
  createHash("sha256")
    .update(
      packageList(installed)
        .map((line) => `${line}\n`)
        .join(""),
    )
    .digest("hex");

/** The name of the list in a provenance. */
export const packageListName = "packages";
