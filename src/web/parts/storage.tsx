import type { StoredBytes } from "#storage/accounts";
import { Panel } from "./panel.tsx";
import { size } from "./words.ts";

export interface Disk {
  used: number;
  most: number;
  kinds: StoredBytes;
}

const kinds = [
  { words: "Images and their files", look: "", of: ({ images }: StoredBytes) => images },
  { words: "Added files and pictures", look: "more", of: ({ files, pictures }: StoredBytes) => files + pictures },
  { words: "Packages and uploads", look: "half", of: ({ packages, uploads }: StoredBytes) => packages + uploads },
] as const;

const gigabyte = 1024 ** 3;

/** The storage of an account by kind, compared with its quota. */
export const StoragePanel = ({ disk: { used, most, kinds: stored } }: { disk: Disk }) => {
  const share = (bytes: number) => (most === 0 ? 0 : Math.min(100, (100 * bytes) / most));
  let x = 0;
  return (
    <Panel id="storage" title="Storage" hint={`${inGigabytes(used)} of ${inGigabytes(most)}`} look="stack-s">
      <svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        {kinds.map(({ look, of }) => {
          const width = share(of(stored));
          x += width;
          return <rect class={look} x={(x - width).toFixed(2)} width={width.toFixed(2)} height="1" />;
        })}
      </svg>
      <dl class="facts storage">
        {kinds.map(({ words, look, of }) => (
          <>
            <dt class={look}>{words}</dt>
            <dd class="num">{size(of(stored))}</dd>
          </>
        ))}
      </dl>
      <p class="small-text quiet">
        {used > most
          ? "More is stored than the quota allows: nothing new can be built or uploaded."
          : `${inGigabytes(most - used)} are free.`}
      </p>
    </Panel>
  );
};

const inGigabytes = (bytes: number): string => {
  const gigabytes = bytes / gigabyte;
  return bytes === 0 || gigabytes >= 0.1 ? `${Number(gigabytes.toFixed(1))} GB` : size(bytes);
};
