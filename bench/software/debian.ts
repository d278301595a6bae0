/** The package indexes that apt keeps on this machine. */
import { execFileSync } from "node:child_process";
import { basename } from "node:path";

/** What one repository of Debian holds, as apt stored it. */
export interface PackageIndex {
  /** `bookworm-main`, `bookworm-security-main` … */
  name: string;
  /** Packed in whatever way apt likes. */
  file: string;
}

/** The fields of one package, by the names that Debian's policy gives them. */
export type Stanza = Readonly<Record<string, string>>;

const aptHelper = "/usr/lib/apt/apt-helper";
const mostBytes = 1 << 30;

/** The indexes of this machine's own architecture; a machine that is no Debian, or has never updated, has none. */
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
  if (indexes.length === 0) throw new Error("apt has no package index here: run `apt-get update`");
  return indexes.toSorted((left, right) => (basename(left.file) < basename(right.file) ? -1 : 1));
}

/** Every package of an index, in its order. */
export function readStanzas({ file }: PackageIndex): Stanza[] {
  const text = execFileSync(aptHelper, ["cat-file", file], { encoding: "utf8", maxBuffer: mostBytes });
  return text
    .split("\n\n")
    .map(parseStanza)
    .filter(({ Package: name }) => name !== undefined);
}

/** Lines that begin with a blank go on with the field above them. */
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
