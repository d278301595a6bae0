import type { Build } from "#storage/builds";
import { Notice } from "../../../parts/notice.tsx";
import { size } from "../../../parts/words.ts";
import { Download, nameOf, Testdrive } from "./image.tsx";

const newsMs = 10 * 60_000;

/** The build whose end is news: the last one, if it has just finished or failed. A cancelled one is none. */
export const endOf = ([last]: readonly Build[], now = Date.now()): Build | undefined =>
  last?.completedAt && now - last.completedAt.getTime() < newsMs && last.status !== "cancelled" ? last : undefined;

/** That an image is there, with what people do with it first. A failure has its own place. */
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
