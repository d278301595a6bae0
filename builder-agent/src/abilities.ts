import type { Capabilities } from "./contract.ts";

/** Whether something is missing that a new examination may find. */
export const isLacking = ({ lacking = {}, noDeb, noLvm, noEfi, noFileSystem, testdrives }: Capabilities): boolean =>
  Object.keys(lacking).length > 0 ||
  [noDeb, noLvm, noEfi, noFileSystem].some((lack) => lack !== undefined) ||
  !testdrives;

/**
 * The abilities after a new examination, which only adds abilities: a probe that fails on a busy host does not mean
 * that a program is gone.
 */
export function withNewlyFound(before: Capabilities, found: Capabilities): Capabilities {
  const { lacking, noDeb, noLvm, noEfi, noFileSystem, ...rest } = found;
  return {
    ...rest,
    arches: united(before.arches, found.arches),
    imageTypes: united(before.imageTypes, found.imageTypes),
    ...((before.packageTypes ?? found.packageTypes) && {
      packageTypes: united(before.packageTypes ?? ["rpm"], found.packageTypes ?? ["rpm"]),
    }),
    testdrives: before.testdrives || found.testdrives,
    ...((before.machines ?? found.machines) && { machines: united(before.machines ?? [], found.machines ?? []) }),
    builder: before.imageTypes.length > 0 ? before.builder : found.builder,
    ...(lacking && { lacking: onlyOf(before.lacking, lacking) }),
    ...(before.noDeb !== undefined && noDeb !== undefined && { noDeb }),
    ...(before.noLvm !== undefined && noLvm !== undefined && { noLvm }),
    ...(before.noEfi && noEfi && { noEfi: onlyOf(before.noEfi, noEfi) }),
    ...(before.noFileSystem && noFileSystem && { noFileSystem: onlyOf(before.noFileSystem, noFileSystem) }),
  };
}

const united = <T>(before: readonly T[], found: readonly T[]): T[] => [...new Set([...before, ...found])];

/** The entries that were missing before and are still missing. */
const onlyOf = <T extends object>(before: T | undefined, found: T): T =>
  Object.fromEntries(Object.entries(found).filter(([name]) => before && name in before)) as T;
