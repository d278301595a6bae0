import type { FrozenInput, Phase } from "../contract.ts";
import { guestKiwi, type GuestKiwi } from "../guest/guest-kiwi.ts";
import { bareKiwi } from "./bare-kiwi.ts";
import { makeKiwiPlace } from "./kiwi.ts";
import { machineOf, type Machine } from "./machine.ts";
import { fetchContents, writeKeys } from "./overlay.ts";
import { fetchPackages, type Reach } from "./package-files.ts";
import { readResult, type KiwiResult } from "./result.ts";
import type { RootTree } from "./root-walk.ts";
import { writeDescription } from "./source.ts";
import { refuseVolumes } from "./volumes.ts";

export interface ImageBuild {
  /** KIWI NG's program on this host. */
  kiwi: string;
  /** Given: KIWI runs in a guest. */
  guest?: GuestKiwi;
  workDir: string;
  reach: Reach;
  signal: AbortSignal;
  onLine: (line: string) => void;
  onPhase: (phase: Phase) => void;
  /** Part of the phase that is done. */
  onProgress: (fraction: number) => void;
}

/** KIWI's image, and the tree that it was made from. */
export type BuiltImage = KiwiResult & {
  root: RootTree;
  /** What a machine that the image is described for gets. */
  machine: Machine;
};

/** From the frozen input to KIWI's image on this disk: needs no Worker but for the repositories that it serves. */
export async function buildImage(input: FrozenInput, build: ImageBuild): Promise<BuiltImage> {
  const runner = build.guest ? guestKiwi(build.guest) : bareKiwi(build.kiwi);
  refuseVolumes(input);
  const place = await makeKiwiPlace(build.workDir);
  await writeDescription(input, place.description, runner.repository(place));
  build.onPhase("Preparing the build");
  await fetchContents({ ...build, input, description: place.description });
  const keys = await writeKeys(input, place.keys);
  await fetchPackages({ ...build, input, dir: place.packages });
  const root = await runner.run({ ...build, input, place, keys });
  return { ...(await readResult(place.target, input.imageType)), root, machine: machineOf(input) };
}
