import type { FrozenPackage } from "../contract.ts";

/** A package's file in the directory of a build, by its checksum: no name of a mirror's making comes near a path. */
export const packageFile = ({ checksum, control }: Pick<FrozenPackage, "checksum" | "control">) =>
  `${checksum.value}.${control === undefined ? "rpm" : "deb"}`;
