import type { Build } from "#storage/builds";
import { Notice } from "../../../parts/notice.tsx";
import { size } from "../../../parts/words.ts";
import { Download, Testdrive } from "./image.tsx";
import { nameOf } from "./names.ts";

const newsMs = 10 * 60_000;

/** The last build, if it has just finished or failed. The end of a cancelled build is not news. */
export const endOf = ([last]: readonly Build[], now = Date.now()): Build | undefined =>
  last?.completedAt && now - last.completedAt.getTime() < newsMs && last.status !== "cancelled" ? last : undefined;

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
