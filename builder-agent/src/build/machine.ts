import type { FrozenInput } from "../contract.ts";

/** The virtual machine that the configuration file next to a disk describes. */
export interface Machine {
  memoryMb: number;
  hasCdrom: boolean;
  is64Bit: boolean;
}

/** For an appliance that was frozen by an older Worker, without these settings. */
const usualMemoryMb = 512;

export const machineOf = ({ appliance, configuration }: FrozenInput): Machine => ({
  memoryMb: configuration?.memoryMb ?? usualMemoryMb,
  hasCdrom: configuration?.cdrom ?? false,
  is64Bit: appliance.arch === "x86_64",
});
