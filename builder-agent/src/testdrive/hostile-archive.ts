/** An archive that our builds do not make. They make one disk, and the files that describe a machine for it. */
export class HostileArchive extends Error {
  constructor(why: string) {
    super(`The image's archive was refused: ${why}.`);
    this.name = "HostileArchive";
  }
}
