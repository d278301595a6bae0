import type { BuildConditions } from "#lib/contract/index";
import { moment } from "./sbom.ts";

/** The result of a rebuild: its image, compared with that of the first build. */
export interface Rebuilt {
  /** The image of the rebuild, which is not stored. */
  sha256: string;
  size: number;
  /** Whether the bytes are the same, and both agents report the same files and packages. */
  isSame: boolean;
  /** Whether at least the bytes are the same. Absent if `isSame` is true. */
  sameBytes?: boolean;
  /** Whether it was made by a different agent than the first image. Null if the agent of the first one is unknown. */
  byOther: boolean | null;
  /** The first files that differ. Absent if the images are equal, or if the files of the first one are not stored. */
  differences?: RebuiltDifference[];
  /** Whether there are more differences than those listed, or not all files were compared. */
  hasMore?: true;
}

/** A file that differs between two images of one input, or a package that only one of the two agents has reported. */
export interface RebuiltDifference {
  path: string;
  change: "added" | "removed" | "changed";
  /** Which facts of a changed file differ: `content`, `mode`, `owner`. `package` if it is a package. */
  what: string[];
}

/** The type of the statement about a rebuild; docs/rebuilds.md defines it. */
const rebuildType = "urn:kiln:rebuild:1";

/** The facts of a rebuild and of the build that it repeats. */
export interface RebuildFacts {
  image: { fileName: string; sha256: string };
  /** URI of the service: its URL, or a name derived from its key. */
  builderId: string;
  buildId: number;
  rebuildId: number;
  inputSha256: string;
  startedAt: Date;
  finishedAt: Date;
  /** KIWI's version. */
  builder: string;
  /** The builder root, as NAME@SHA256. Null for the tools of the agent's host. */
  builtIn: string | null;
  /** Null if an older agent built it. */
  conditions: BuildConditions | null;
  rebuilt: Rebuilt;
}

/** An in-toto Statement v1 about a rebuild: whether building the input again made the same image. */
export const rebuildStatement = ({ image, rebuilt, ...facts }: RebuildFacts): object => ({
  _type: "https://in-toto.io/Statement/v1",
  subject: [{ name: image.fileName, digest: { sha256: image.sha256 } }],
  predicateType: rebuildType,
  predicate: {
    builder: { id: facts.builderId, version: { "kiwi-ng": facts.builder }, ...rootOf(facts.builtIn) },
    frozenInput: facts.inputSha256,
    ...facts.conditions,
    build: String(facts.buildId),
    metadata: {
      invocationId: String(facts.rebuildId),
      startedOn: moment(facts.startedAt),
      finishedOn: moment(facts.finishedAt),
    },
    byOtherAgent: rebuilt.byOther,
    result: rebuilt.isSame ? "same" : "differs",
    image: { digest: { sha256: rebuilt.sha256 }, size: rebuilt.size },
    ...(rebuilt.differences && { differences: rebuilt.differences, hasMore: rebuilt.hasMore ?? false }),
  },
});

function rootOf(builtIn: string | null) {
  const [name, sha256] = builtIn?.split("@") ?? [];
  return name === undefined || sha256 === undefined
    ? {}
    : { builderDependencies: [{ name: `builder root ${name}`, digest: { sha256 } }] };
}
