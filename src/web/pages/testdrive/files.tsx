import { shownPermissions } from "#lib/contract/file-mode";
import type { Caution } from "#domain/testdrives/caution";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { Form, useForm } from "../../parts/form.tsx";
import { Notice, type Tone } from "../../parts/notice.tsx";
import { counted, number, size } from "../../parts/words.ts";
import type { Modified, ShownFile } from "./modified.ts";
import type { Subject } from "./subject.ts";

interface FilesProps {
  at: string;
  subject: Pick<Subject, "mayKeep">;
  modified: Modified;
}

/** The files of the drawer, and the buttons that keep them. Files with a warning are not chosen by default. */
export const Files = ({ at, subject: { mayKeep }, modified: { files, more } }: FilesProps) => {
  const own = files.filter(({ caution }) => caution === undefined);
  return (
    <Form action={`${at}/modified_files`} swap="drawer" once>
      {mayKeep && own.some(({ isKeepable }) => isKeepable) && <ChooseAll />}
      <div class="files">
        {own.length === 0 && (
          <p class="quiet">
            Nothing has changed, apart from what the machine itself writes. Change a file in the machine, run{" "}
            <code>sync</code>, and read again.
          </p>
        )}
        {[...foldersOf(own)].map(([folder, inIt]) => (
          <Folder name={folder} files={inIt} mayKeep={mayKeep} />
        ))}
        {groups.map((group) => (
          <Group
            {...group}
            files={files.filter(({ caution }) => caution && group.of.includes(caution))}
            mayKeep={mayKeep}
          />
        ))}
        {more > 0 && <p class="quiet">{counted(more, "more file")}: the archive has all.</p>}
        {files.some(({ change }) => change === "deleted") && (
          <p class="quiet">A deletion cannot be kept as a file. Put it into the build script instead.</p>
        )}
      </div>
      {files.length > 0 && <Keeping at={at} mayKeep={mayKeep} files={files} />}
    </Form>
  );
};

/** Buttons that choose files. They need the page's script, and are hidden without it. */
const ChooseAll = () => (
  <div class="row choose">
    {(["none", "all"] as const).map((what) => (
      <button class="button small plain" type="button" data-choose={what}>
        {what === "all" ? "All of your changes" : "None"}
      </button>
    ))}
  </div>
);

interface GroupProps {
  title: string;
  /** Why copies of the appliance should not get these files. */
  why: string;
  of: readonly Caution[];
}

const groups: readonly GroupProps[] = [
  {
    title: "Secrets and identity of this machine",
    why: "Every copy of the appliance would have the same keys, and everyone with an image could read them.",
    of: ["secret", "identity"],
  },
  {
    title: "What the machine remembers",
    why: "Each machine writes these itself. A copy that starts with them acts as if it were this one.",
    of: ["state"],
  },
  { title: "Large files", why: "They are part of every image that is built from now on.", of: ["large"] },
  { title: "Logs and caches", why: "Of this session only.", of: ["log"] },
];

interface ListProps {
  files: readonly ShownFile[];
  mayKeep: boolean;
}

/** A group of files with a warning. It is closed at first, and nothing in it is chosen. */
const Group = ({ title, why, files, mayKeep }: GroupProps & ListProps) =>
  files.length === 0 ? null : (
    <details class="folder cautioned">
      <summary>
        {title} <Sum files={files} />
      </summary>
      {mayKeep && <Notice tone="warn">{why} Keep one only if you know that you want it in every copy.</Notice>}
      <List files={files} mayKeep={mayKeep} />
    </details>
  );

const [foldFrom, closedFrom] = [5, 25];

/** A folder of files. If there are only a few, they are listed without a folder. */
const Folder = ({ name, files, mayKeep }: ListProps & { name: string }) =>
  files.length < foldFrom ? (
    <List files={files} mayKeep={mayKeep} />
  ) : (
    <details class="folder" open={files.length < closedFrom}>
      <summary>
        <span class="mono">{name}</span> <Sum files={files} />
      </summary>
      <List files={files} mayKeep={mayKeep} />
    </details>
  );

/** "12 files, 3.4 MB" */
const Sum = ({ files }: Pick<ListProps, "files">) => (
  <span class="quiet">
    {counted(files.length, "file")}, {size(bytesOf(files))}
  </span>
);

const bytesOf = (files: readonly ShownFile[]): number =>
  files.reduce((sum, file) => sum + (file.isKeepable ? file.size : 0), 0);

function foldersOf(files: readonly ShownFile[]): Map<string, ShownFile[]> {
  return Map.groupBy(files, ({ path }) => path.slice(0, path.lastIndexOf("/")) || "/");
}

const List = ({ files, mayKeep }: ListProps) => (
  <ul>
    {files.map((file) => (
      <File file={file} mayKeep={mayKeep} />
    ))}
  </ul>
);

const Keeping = ({ at, mayKeep, files }: ListProps & { at: string }) => (
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
);

/** How many files are chosen, and their size. The page's script updates it. Without the script, it is not shown. */
const Chosen = ({ files }: Pick<ListProps, "files">) => {
  const isChosen = useChosen();
  const chosen = files.filter(isChosen);
  return (
    <span data-count="path">
      {number(chosen.length)} ({size(bytesOf(chosen))})
    </span>
  );
};

/** Whether a file is chosen: in a refused form as the person chose, otherwise if it has no warning. */
function useChosen(): (file: ShownFile) => boolean {
  const { given } = useForm();
  const paths = given && new Set(given.values["path"]);
  return ({ path, isKeepable, caution }) => isKeepable && (paths ? paths.has(path) : caution === undefined);
}

const toneOf: Record<ShownFile["change"], Tone> = { added: "good", changed: "warn", deleted: "bad" };

/** The short reason why a file cannot be chosen. For a deletion, its mark is reason enough. */
function whyNotKept({ change, type }: ShownFile): string {
  if (change === "deleted") return "";
  return type === "f" ? "unreadable" : type === "l" ? "link" : "special file";
}

const File = ({ file, mayKeep }: { file: ShownFile; mayKeep: boolean }) => {
  const isChosen = useChosen();
  const { path, change, content, mode, type, size: bytes, difference, isKeepable } = file;
  const words = change === "changed" && !content ? `mode ${shownPermissions(mode)}` : change;
  return (
    <li>
      <div class="line">
        <label>
          {mayKeep && (
            <input
              type="checkbox"
              name="path"
              value={path}
              checked={isChosen(file)}
              disabled={!isKeepable}
              data-bytes={bytes}
            />
          )}
          <span>{path}</span>
        </label>
        {mayKeep && !isKeepable && <span class="quiet">{whyNotKept(file)}</span>}
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

/** A unified diff without the file names at its head. */
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
