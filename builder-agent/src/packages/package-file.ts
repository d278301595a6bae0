import type { FrozenPackage } from "../contract.ts";

/**
 * A package's file name in the directory of a build. It is derived from the checksum, because names come from mirrors.
 */
export const packageFile = ({ checksum, control }: Pick<FrozenPackage, "checksum" | "control">) =>
  `${checksum.value}.${control === undefined ? "rpm" : "deb"}`;
