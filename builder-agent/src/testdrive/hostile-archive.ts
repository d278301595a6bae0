/** An archive that is not what a build of ours makes: one disk, and what describes a machine around it. */
export class HostileArchive extends Error {
  constructor(why: string) {
    super(`The image's archive was refused: ${why}.`);
    this.name = "HostileArchive";
  }
}
