import type { Result } from "../../result.ts";
import { Icon } from "../../parts/icon.tsx";
import { Notice } from "../../parts/notice.tsx";
import { Files } from "./files.tsx";
import type { Modified } from "./modified.ts";
import type { Subject } from "./subject.ts";

interface DrawerProps {
  /** The address of the testdrive's page. */
  at: string;
  subject: Subject;
  /** Undefined if the drawer is closed. A message if the files cannot be read. */
  modified: Modified | string | undefined;
  result: Result | undefined;
}

/**
 * The files that the session has changed in its image. The element also exists when closed, so that a swap finds it.
 */
export const Drawer = ({ at, subject, modified, result }: DrawerProps) => (
  <aside class="drawer" id="drawer" aria-labelledby="modified-title" hidden={modified === undefined}>
    {modified !== undefined && (
      <>
        <Head at={at} modified={modified} />
        <div role="status">{result && <Notice tone="good">{result.text}</Notice>}</div>
        {typeof modified === "string" ? (
          <Notice tone="warn">{modified}</Notice>
        ) : (
          <Files at={at} subject={subject} modified={modified} />
        )}
      </>
    )}
  </aside>
);

const Head = ({ at, modified }: { at: string; modified: Modified | string }) => {
  const seen = typeof modified === "string" ? undefined : modified;
  return (
    <div class="head">
      <h2 id="modified-title">Modified files {seen && <span class="count">{seen.files.length + seen.more}</span>}</h2>
      <a class="button small push" href={`${at}?panel=files`} data-swap="drawer">
        <Icon name="refresh-cw" /> Read again
      </a>
      <a class="button small plain square" href={at} data-swap="drawer">
        <Icon name="x" label="Close modified files" />
      </a>
      <p class="sub">
        Run <code>sync</code> in the machine first: what it has not written yet is not seen.
      </p>
    </div>
  );
};
