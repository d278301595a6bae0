/** The package indexes that apt has stored on this machine. */
import { execFileSync } from "node:child_process";
import { basename } from "node:path";

/** The package index of one Debian repository, as stored by apt. */
export interface PackageIndex {
  /** `bookworm-main`, `bookworm-security-main` … */
  name: string;
  /** Compressed in any format of apt. */
  file: string;
}

/** The fields of one package, with the names of Debian's policy. */
export type Stanza = Readonly<Record<string, string>>;

const aptHelper = "/usr/lib/apt/apt-helper";
const maxBytes = 1 << 30;

/** The indexes for this machine's architecture. A machine that does not run Debian, or was never updated, has none. */
export function packageIndexes(): PackageIndex[] {
  const format = "$(CODENAME)-$(COMPONENT) $(FILENAME)";
  const filters = ["Created-By: Packages", `Architecture: ${nativeArchitecture()}`];
  const listed = execFileSync("apt-get", ["indextargets", "--format", format, ...filters], { encoding: "utf8" });
  const indexes = listed
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [name = "", file = ""] = line.split(" ");
      return { name: name.replaceAll(/[^a-z0-9.-]/g, "-"), file };
    });
  if (indexes.length === 0) throw new Error("apt has no package index on this machine: run `apt-get update`");
  return indexes.toSorted((left, right) => (basename(left.file) < basename(right.file) ? -1 : 1));
}

/** Reads every package of an index, in its order. */
export function readStanzas({ file }: PackageIndex): Stanza[] {
  const text = execFileSync(aptHelper, ["cat-file", file], { encoding: "utf8", maxBuffer: maxBytes });
  return text
    .split("\n\n")
    .map(parseStanza)
    .filter(({ Package: name }) => name !== undefined);
}

/** A line that begins with a space continues the field above. */
function parseStanza(text: string): Stanza {
  const lines = text.replaceAll(/\n[ \t]+/g, " ").split("\n");
  return Object.fromEntries(
    lines.flatMap((line) => {
      const colon = line.indexOf(":");
      return colon < 0 ? [] : [[line.slice(0, colon), line.slice(colon + 1).trim()]];
    }),
  );
}

const nativeArchitecture = () => execFileSync("dpkg", ["--print-architecture"], { encoding: "utf8" }).trim();
