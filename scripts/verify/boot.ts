import { createReadStream, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { basename, join } from "node:path";
import { imageFormats, type ImageType } from "#lib/contract/index";
import { command } from "../launch/command.ts";
import { Complaint } from "../launch/complaint.ts";
import { freePort } from "./free-port.ts";

/** How a machine boots an image. Disposing of it stops the server that it boots from. */
export type Boot = Disposable & {
  /** QEMU's arguments for the image. */
  args: string[];
  /** If `on`, the machine reaches no network. If `off`, it reaches this host and everything that this host reaches. */
  restrict: "on" | "off";
  /** The minimum memory of the machine, in MB. */
  memoryMb: number;
};

type Download = {
  /** The downloaded file. */
  file: string;
  /** An empty folder to unpack it in. */
  folder: string;
  format: ImageType;
};

/** A `net` image has its compressed root file system in memory, and dracut may fill half of the memory. */
const netMemoryMb = 2048;

/** Unpacks a download, and returns how to boot it. */
export async function bootOf({ file, folder, format }: Download): Promise<Boot> {
  if (!file.endsWith(".iso")) await unpack(file, folder, format);
  if (format === "net") return await networkBoot(folder);
  const args = file.endsWith(".iso") ? await mediumArguments({ file, folder, format }) : diskArguments(folder, format);
  return { args, restrict: "on", memoryMb: 0, [Symbol.dispose]: () => {} };
}

async function unpack(file: string, folder: string, format: ImageType): Promise<void> {
  const strip = imageFormats[format].alone === undefined ? ["--strip-components=1"] : [];
  await command("tar", ["-xf", file, "-C", folder, ...strip]);
}

/** A machine that reboots has failed, unless it has just been installed. */
const startsOnce = ["-no-reboot"];

function diskArguments(folder: string, format: ImageType): string[] {
  const { container, bus = "virtio" } = imageFormats[format];
  const disk = readdirSync(folder).find((name) => container && name.endsWith(`.${container.suffix}`));
  if (disk === undefined) throw new Complaint("The download has no disk.");
  const driver = container?.conversion?.driver ?? "raw";
  return ["-drive", `file=${join(folder, disk)},format=${driver},if=${bus}`, ...startsOnce];
}

/**
 * An installation medium also gets a blank disk, from which the machine boots after a system has been installed on it.
 * UEFI firmware ignores QEMU's `-boot order`, and would install the system again and again.
 */
async function mediumArguments({ file, folder, format }: Download): Promise<string[]> {
  const medium = `file=${file},format=raw,media=cdrom,readonly=on`;
  if (format !== "oemiso") return ["-drive", medium, ...startsOnce];
  const blank = join(folder, "blank.qcow2");
  await command("qemu-img", ["create", "-q", "-f", "qcow2", blank, "1T"]);
  const disk = [
    "-drive",
    `file=${blank},format=qcow2,if=none,id=disk`,
    "-device",
    "virtio-blk-pci,drive=disk,bootindex=0",
  ];
  const drive = ["-drive", `${medium},if=none,id=medium`, "-device", "ide-cd,drive=medium,bootindex=1"];
  return [...disk, ...drive];
}

/** QEMU starts the kernel with the options of the image's example for PXELINUX. A web server here serves the root. */
async function networkBoot(folder: string): Promise<Boot> {
  const server = createServer(({ url = "" }, response) => {
    createReadStream(join(folder, basename(url)))
      .on("error", () => response.writeHead(404).end())
      .pipe(response);
  });
  const port = await freePort();
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
  const options = kernelOptions(readFileSync(join(folder, "pxelinux.cfg", "default"), "utf8"), `10.0.2.2:${port}`);
  return {
    args: ["-kernel", join(folder, "linux"), "-initrd", join(folder, "initrd"), "-append", options, ...startsOnce],
    restrict: "off",
    memoryMb: netMemoryMb,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function kernelOptions(pxelinux: string, server: string): string {
  const [, options] = /^ *append (.*)$/m.exec(pxelinux) ?? [];
  if (options === undefined) throw new Complaint("The download has no options for its kernel.");
  return options.replace("SERVER", server);
}
