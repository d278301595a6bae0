import { writeFile } from "node:fs/promises";
import type { Machine } from "./machine.ts";

/** `xl create` starts the raw disk of the same name with it, from the folder that has both: a guest with BIOS (HVM). */
export const writeXlConfiguration = (file: string, name: string, { memoryMb }: Machine): Promise<void> =>
  writeFile(
    file,
    [
      `name = "${name}"`,
      `type = "hvm"`,
      `memory = ${memoryMb}`,
      `vcpus = 1`,
      `disk = [ "format=raw, vdev=xvda, access=rw, target=${name}.raw" ]`,
      `vif = [ "" ]`,
      `boot = "c"`,
      `vnc = 1`,
      `serial = "pty"`,
      "",
    ].join("\n"),
  );
