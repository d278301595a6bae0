import { type RpmSection, malformed } from "./rpm-section.ts";

export const relationKinds = [
  "provides",
  "requires",
  "conflicts",
  "obsoletes",
  "suggests",
  "enhances",
  "recommends",
  "supplements",
] as const;
export type RelationKind = (typeof relationKinds)[number];

/** How a relation compares versions, in rpm-md's terms. */
export type Comparison = "LT" | "LE" | "EQ" | "GE" | "GT";

export interface Relation {
  /** A package, a capability, a path or a rich expression in parentheses. */
  name: string;
  comparison?: Comparison;
  /** `epoch:version-release`, as in the header. */
  evr?: string;
  /** Needed while scripts run at installation. */
  isPre?: true;
}

/** Tags of names, versions and flags. */
const relationTags: Record<RelationKind, readonly [number, number, number]> = {
  provides: [1047, 1113, 1112],
  requires: [1049, 1050, 1048],
  conflicts: [1054, 1055, 1053],
  obsoletes: [1090, 1115, 1114],
  recommends: [5046, 5047, 5048],
  suggests: [5049, 5050, 5051],
  supplements: [5052, 5053, 5054],
  enhances: [5055, 5056, 5057],
};
/**
 * rpm before 4.12 had two lists, with a flag for strong relations. Distributions of that time are still used for
 * images.
 */
const oldWeakTags = { forward: [1156, 1157, 1158], backward: [1159, 1160, 1161] } as const;

const sense = { less: 1 << 1, greater: 1 << 2, equal: 1 << 3, strong: 1 << 27 };
/** PREREQ, and the scripts before and after installation. */
const senseOfPre = (1 << 6) | (1 << 9) | (1 << 10);
const comparisons: { [sense: number]: Comparison } = {
  [sense.less]: "LT",
  [sense.less | sense.equal]: "LE",
  [sense.equal]: "EQ",
  [sense.greater | sense.equal]: "GE",
  [sense.greater]: "GT",
};

/** Reads all relations of a package from its header. */
export function readRelations(main: RpmSection): Record<RelationKind, Relation[]> {
  const read = (tags: readonly [number, number, number]) => withFlags(main, tags).map(({ relation }) => relation);
  const forward = withFlags(main, oldWeakTags.forward);
  const backward = withFlags(main, oldWeakTags.backward);
  return {
    provides: read(relationTags.provides),
    requires: read(relationTags.requires),
    conflicts: read(relationTags.conflicts),
    obsoletes: read(relationTags.obsoletes),
    suggests: [...read(relationTags.suggests), ...weak(forward)],
    enhances: [...read(relationTags.enhances), ...weak(backward)],
    recommends: [...read(relationTags.recommends), ...strong(forward)],
    supplements: [...read(relationTags.supplements), ...strong(backward)],
  };
}

interface Flagged {
  relation: Relation;
  flags: number;
}
const isStrong = ({ flags }: Flagged) => (flags & sense.strong) !== 0;
const strong = (relations: readonly Flagged[]) => relations.filter(isStrong).map(({ relation }) => relation);
const weak = (relations: readonly Flagged[]) =>
  relations.filter((one) => !isStrong(one)).map(({ relation }) => relation);

function withFlags(main: RpmSection, [nameTag, versionTag, flagTag]: readonly [number, number, number]): Flagged[] {
  const [names, versions, flags] = [main.texts(nameTag), main.texts(versionTag), main.numbers(flagTag)];
  if (
    (versions.length > 0 && versions.length !== names.length) ||
    (flags.length > 0 && flags.length !== names.length)
  ) {
    throw malformed(`${names.length} relations with ${versions.length} versions and ${flags.length} flags`);
  }
  return names.map((name, index) => ({
    relation: relation(name, versions[index] ?? "", flags[index] ?? 0),
    flags: flags[index] ?? 0,
  }));
}

function relation(name: string, evr: string, flags: number): Relation {
  const comparison = comparisons[flags & (sense.less | sense.greater | sense.equal)];
  return {
    name,
    ...(comparison !== undefined && evr !== "" && { comparison, evr }),
    ...((flags & senseOfPre) !== 0 && { isPre: true as const }),
  };
}
