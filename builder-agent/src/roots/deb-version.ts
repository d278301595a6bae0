import { compareDeb } from "../contract.ts";

/** The order of whole versions (deb-version(7)): negative, zero or positive. */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [partsOf(a), partsOf(b)];
  return (
    first.epoch - second.epoch ||
    compareDeb(first.upstream, second.upstream) ||
    compareDeb(first.revision, second.revision)
  );
}

/** Whether a version fulfils a relation, e.g. `>=` and `1.2-3`. */
export function fulfils(version: string, { operator, than }: { operator: string; than: string }): boolean {
  const order = compareVersions(version, than);
  switch (operator) {
    case "<<":
      return order < 0;
    case "<=":
      return order <= 0;
    case "=":
      return order === 0;
    case ">=":
      return order >= 0;
    default:
      return order > 0;
  }
}

/** A missing revision is the revision 0. */
function partsOf(version: string): { epoch: number; upstream: string; revision: string } {
  const [, epoch = "0", rest = ""] = /^(?:(\d+):)?(.*)$/.exec(version) ?? [];
  const dash = rest.lastIndexOf("-");
  if (dash === -1) return { epoch: Number(epoch), upstream: rest, revision: "0" };
  return { epoch: Number(epoch), upstream: rest.slice(0, dash), revision: rest.slice(dash + 1) };
}
