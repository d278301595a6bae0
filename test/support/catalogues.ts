/** The catalogues that come with Kiln, as the launcher loads them. */
import { extended, withLikes } from "../../scripts/launch/catalogue-extension.ts";
import arm64 from "../../templates/changes/arm64.json";
import debian12Arm64Changes from "../../templates/debian-12-arm64.json";
import debian12I386Changes from "../../templates/debian-12-i386.json";
import debian12File from "../../templates/debian-12.json";
import debian13Changes from "../../templates/debian-13.json";
import debian13Arm64Changes from "../../templates/debian-13-arm64.json";
import leap15 from "../../templates/leap-15.6.json";
import leap16Changes from "../../templates/leap-16.0.json";
import tumbleweedChanges from "../../templates/tumbleweed.json";

/** TypeScript does not know the shape of a template that extends another one: the tests parse the catalogue. */
export const debian12 = withLikes(debian12File) as Omit<typeof debian12File, "sets"> & { sets: unknown };

/** A catalogue has the shape of its parent. Otherwise its tests fail. */
const asParent = <T>(parent: T, changes: Parameters<typeof extended>[1]) => extended(parent, changes) as T;

export const debian13 = asParent(debian12, debian13Changes);
export const debian12Arm64 = asParent(asParent(debian12, arm64), debian12Arm64Changes);
export const debian12I386 = asParent(debian12, debian12I386Changes);
export const debian13Arm64 = asParent(asParent(debian13, arm64), debian13Arm64Changes);
export const leap16 = asParent(leap15, leap16Changes);
export const tumbleweed = asParent(leap15, tumbleweedChanges);

export { leap15 };
