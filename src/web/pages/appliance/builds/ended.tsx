import type { Build } from "#storage/builds";
import type { Builds } from "./shown-builds.ts";
import { Notice } from "../../../parts/notice.tsx";
import { size } from "../../../parts/words.ts";
import { Download, Testdrive } from "./image.tsx";
import { nameOf } from "./names.ts";

const newsMs = 10 * 60_000;

/** The last build, if it has just finished or failed. The end of a cancelled build is not news. */
export const endOf = (seen: Pick<Builds, "over" | "before">, now = Date.now()): Build | undefined => {
  const last = lastOf(seen);
  return last?.completedAt && now - last.completedAt.getTime() < newsMs && last.status !== "cancelled"
    ? last
    : undefined;
};

/** The last build that has ended. A page of older ones does not show it. */
export const lastOf = ({ over, before }: Pick<Builds, "over" | "before">): Build | undefined =>
  before === undefined ? over[0] : undefined;

/** Announces a finished image, with the usual next actions. A failure is shown elsewhere. */
export const Ended = ({ build }: { build: Build }) =>
  build.status !== "finished" || build.expiredAt !== null ? null : (
    <Notice
      tone="good"
      role="status"
      solutions={
        <>
          <Testdrive build={build} />
          <Download build={build} />
        </>
      }
    >
      {nameOf(build)} is finished: {size(build.fileSize ?? 0)} to download, {size(build.rawSize ?? 0)} on a disk.
    </Notice>
  );
