import type { Result } from "../../result.ts";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { Form } from "../../parts/form.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Notice, type Tone } from "../../parts/notice.tsx";
import { counted, size } from "../../parts/words.ts";
import type { Modified } from "./modified.ts";
import type { Subject } from "./subject.ts";

interface DrawerProps {
  /** The address of the testdrive's page. */
  at: string;
  subject: Subject;
  /** Undefined: it is closed. A sentence: the files cannot be read. */
  modified: Modified | string | undefined;
  result: Result | undefined;
}

/** The files that the session has changed in its image. It is there when closed, too, so that a swap finds its place. */
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
  const all = seen?.isAll ? "&all=1" : "";
  return (
    <div class="head">
      <h2 id="modified-title">Modified files {seen && <span class="count">{seen.files.length + seen.more}</span>}</h2>
      <a class="button small push" href={`${at}?panel=files${all}`} data-swap="drawer">
        <Icon name="refresh-cw" /> Read again
      </a>
      <a class="button small plain square" href={at} data-swap="drawer">
        <Icon name="x" label="Close modified files" />
      </a>
      <p class="sub">
        Run <code>sync</code> in the machine first: what it has not written yet is not seen.
      </p>
      {seen && seen.quiet > 0 && (
        <a class="small-text" href={`${at}?panel=files${seen.isAll ? "" : "&all=1"}`} data-swap="drawer">
          {seen.isAll ? "Leave out" : "Show"} {counted(seen.quiet, "log or cache", "logs and caches")}
        </a>
      )}
    </div>
  );
};

const Files = ({ at, subject: { mayKeep }, modified: { files, more } }: { modified: Modified } & FilesProps) => (
  <Form action={`${at}/modified_files`} swap="drawer" once>
    {files.length === 0 ? (
      <p class="quiet nothing">
        Nothing has changed, apart from logs and caches. Change a file in the machine, run <code>sync</code>, and read
        again.
      </p>
    ) : (
      <ul class="files">
        {files.map((file) => (
          <File file={file} mayKeep={mayKeep} />
        ))}
        {more > 0 && <li class="quiet">{counted(more, "more file")}: the archive has all.</li>}
        {files.some(({ change }) => change === "deleted") && (
          <li class="quiet">A deletion cannot be kept as a file. Put it into the build script instead.</li>
        )}
      </ul>
    )}
    {files.length > 0 && (
      <div class="foot-row">
        {mayKeep ? (
          <>
            <Button look="primary" icon="hammer" name="do" value="rebuild">
              <span>
                Keep <Chosen files={files} /> and rebuild
              </span>
            </Button>
            <Button name="do" value="keep">
              <span>
                Keep <Chosen files={files} />
              </span>
            </Button>
          </>
        ) : (
          <p class="sub">This is another account's appliance. Clone it to keep files.</p>
        )}
        <ButtonLink look="plain" icon="download" href={`${at}/modified_files/archive`} isDownload>
          All as tar.gz
        </ButtonLink>
      </div>
    )}
  </Form>
);

/** How many files are chosen. The script counts again; without it the number is not shown. */
const Chosen = ({ files }: Pick<Modified, "files">) => (
  <span data-count="path">{files.filter(({ isKeepable }) => isKeepable).length}</span>
);

interface FilesProps {
  at: string;
  subject: Subject;
}

type ShownFile = Modified["files"][number];
const toneOf: Record<ShownFile["change"], Tone> = { added: "good", changed: "warn", deleted: "bad" };

const File = ({ file, mayKeep }: { file: ShownFile; mayKeep: boolean }) => {
  const { path, change, content, mode, type, size: bytes, difference, isKeepable } = file;
  const words = change === "changed" && !content ? `mode ${mode.toString(8).padStart(3, "0")}` : change;
  return (
    <li>
      <div class="line">
        <label>
          {mayKeep && <input type="checkbox" name="path" value={path} checked={isKeepable} disabled={!isKeepable} />}
          <span>{path}</span>
        </label>
        <span class="state small-state" data-tone={toneOf[change]}>
          {words}
        </span>
        <span class="num quiet">{change === "deleted" || type !== "f" ? "" : size(bytes)}</span>
      </div>
      {difference !== undefined && difference !== "" && (
        <details>
          <summary>
            Difference<span class="hidden"> of {path}</span>
          </summary>
          <Difference text={difference} />
        </details>
      )}
    </li>
  );
};

/** A unified difference, without the names at its head. */
const Difference = ({ text }: { text: string }) => (
  <pre class="diff" tabindex={0}>
    <code>
      {text
        .split("\n")
        .slice(2)
        .map((line) => {
          if (line.startsWith("+")) return <ins>{line.slice(1) || " "}</ins>;
          if (line.startsWith("-")) return <del>{line.slice(1) || " "}</del>;
          return <span>{line.startsWith("@@") ? "…" : line.slice(1)}</span>;
        })}
    </code>
  </pre>
);
