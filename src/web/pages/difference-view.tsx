import type { Child } from "hono/jsx";
import type { ComparedBuild } from "#domain/difference/builds";
import type { ComparedFile, FileChange } from "#domain/difference/files";
import type { Change, PackageChange } from "#domain/difference/packages";
import type { SettingChange } from "#domain/difference/settings";
import type { TextDifference } from "#domain/difference/texts";
import { settingWords } from "#documents/setting-words";
import { Panel } from "../parts/panel.tsx";
import type { Tone } from "../parts/notice.tsx";
import { Table } from "../parts/table.tsx";
import { number, size } from "../parts/words.ts";
import type { Compared } from "./compared.ts";

/** The differences between two builds: counts, then packages, settings and files. */
export const DifferenceView = ({ compared }: { compared: Compared }) => {
  const { difference, files, texts } = compared;
  const { from, to, packages, settings } = difference;
  const changes = files.state === "compared" ? files.changes : [];
  return (
    <>
      <Counts compared={compared} />
      {packages.length > 0 && <Packages packages={packages} from={from} to={to} />}
      {settings.length > 0 && <Settings settings={settings} from={from} to={to} />}
      {texts.map((text) => (
        <Text text={text} />
      ))}
      {changes.length > 0 && (
        <Files changes={changes} hasMore={files.state === "compared" && files.next !== undefined} />
      )}
      {packages.length + settings.length + changes.length === 0 && files.state === "compared" && (
        <p class="quiet">No package, no setting and no file differs.</p>
      )}
      {files.state === "gone" && <p class="quiet">The files of one of the images are no longer stored.</p>}
    </>
  );
};

const Counts = ({ compared: { difference, files } }: { compared: Compared }) => {
  const { from, to, packages, settings, licenses } = difference;
  const count = (wanted: Change<unknown>["change"]) => packages.filter(({ change }) => change === wanted).length;
  return (
    <dl class="figures panel differences">
      <Figure name="Packages">
        +{count("added")}{" "}
        <small>
          −{count("removed")}, {count("changed")} changed
        </small>
      </Figure>
      <Figure name="Disk">
        <Grown from={from.build.rawSize} to={to.build.rawSize} />
      </Figure>
      <Figure name="Download">
        <Grown from={from.build.fileSize} to={to.build.fileSize} />
      </Figure>
      <Figure name="Settings">{settings.length}</Figure>
      {files.state === "compared" && (
        <Figure name="Files">
          {number(files.changes.length)}
          {files.next !== undefined && <small> or more</small>}
        </Figure>
      )}
      {licenses.added.length > 0 && <Figure name="New licences">{licenses.added.join(", ")}</Figure>}
    </dl>
  );
};

const Figure = ({ name, children }: { name: string; children: Child }) => (
  <div>
    <dt>{name}</dt>
    <dd class="breaks">{children}</dd>
  </div>
);

const Grown = ({ from, to }: { from: number | null; to: number | null }) => {
  const bytes = (to ?? 0) - (from ?? 0);
  return (
    <>
      {bytes === 0 ? "same" : `${bytes > 0 ? "+" : "−"}${size(Math.abs(bytes))}`}{" "}
      <small class="nowrap">{grownFrom(size(from ?? 0), size(to ?? 0))}</small>
    </>
  );
};

const looks: Readonly<Record<Change<unknown>["change"], readonly [tone: Tone, words: string]>> = {
  added: ["good", "+ added"],
  removed: ["bad", "− removed"],
  changed: ["warn", "~ changed"],
};

const Kind = ({ of: change }: { of: Change<unknown>["change"] }) => (
  <span class="state nowrap" data-tone={looks[change][0]}>
    {looks[change][1]}
  </span>
);

interface Both {
  from: ComparedBuild;
  to: ComparedBuild;
}

/** The headings of the two columns. Builds of the same version are distinguished by their formats or ids. */
function names({ from: { build: from }, to: { build: to } }: Both): [string, string] {
  if (from.version !== to.version) return [from.version, to.version];
  if (from.imageType !== to.imageType) return [from.imageType, to.imageType];
  return [`build ${from.id}`, `build ${to.id}`];
}

const maxPackages = 500;

const Packages = ({ packages, ...both }: Both & { packages: readonly PackageChange[] }) => (
  <Panel id="packages" title="Packages" count={packages.length} isFlush>
    <Table labelledBy="packages" columns={["Change", "Package", ...names(both), "Repository", "Licence"]} isCards>
      {packages.slice(0, maxPackages).map(({ change, name, from, to }) => (
        <tr>
          <td>
            <Kind of={change} />
          </td>
          <th scope="row">{name}</th>
          <td data-label={names(both)[0]}>{from?.version}</td>
          <td data-label={names(both)[1]}>
            {to?.version}
            {from && to && from.version === to.version && <span class="quiet"> built again</span>}
          </td>
          <td data-label="Repository">{(to ?? from)?.repository}</td>
          <td class="small-text" data-label="Licence">
            {(to ?? from)?.license}
          </td>
        </tr>
      ))}
    </Table>
    {packages.length > maxPackages && <p class="body quiet">And {number(packages.length - maxPackages)} more.</p>}
  </Panel>
);

const Settings = ({ settings, ...both }: Both & { settings: readonly SettingChange[] }) => (
  <Panel id="settings" title="Settings" count={settings.length} isFlush>
    <Table labelledBy="settings" columns={["Setting", ...names(both)]} isCards>
      {settings.map(({ name, item, from, to }) => (
        <tr>
          <th scope="row">
            {settingWords(name)} <span class="breaks">{item}</span>
          </th>
          <td class="breaks" data-label={names(both)[0]}>
            {shown(name, from)}
          </td>
          <td class="breaks" data-label={names(both)[1]}>
            {shown(name, to)}
          </td>
        </tr>
      ))}
    </Table>
  </Panel>
);

/** Omits a file's checksum, which means nothing to people. */
const shown = (name: string, value: string | undefined): string | undefined =>
  name === "overlay_file" ? value?.replace(/, sha256 .*$/, "") : value;

const classes = { "+": "ins", "-": "del" } as const;

/** The difference of one file, line by line. */
const Text = ({ text: { path, lines } }: { text: TextDifference }) => (
  <section class="panel stack-s">
    <h2 class="as-h3 mono breaks">{path}</h2>
    <pre class="diff" tabindex={0}>
      <code>
        {lines.map(({ sign, text }) => {
          if (sign === "…") return <span>…</span>;
          const Tag = sign === " " ? "span" : classes[sign];
          return <Tag>{text || " "}</Tag>;
        })}
      </code>
    </pre>
  </section>
);

const Files = ({ changes, hasMore }: { changes: readonly FileChange[]; hasMore: boolean }) => (
  <Panel id="files" title="Files" count={changes.length} isFlush>
    <ul class="rows tight">
      {changes.map((change) => (
        <li>
          <div class="line">
            <Kind of={change.change} />
            <span class="grow breaks mono small-text">{change.path}</span>
            <span class="quiet small-text num">{factsOf(change)}</span>
          </div>
        </li>
      ))}
    </ul>
    {hasMore && <p class="body quiet">There are more. The API lists all of them.</p>}
  </Panel>
);

/** The sizes or, if they are the same, what else has changed. */
function factsOf({ from, to }: FileChange): string {
  if (!from || !to) return sizeOf(to ?? from);
  if (from.target !== to.target) return `links to ${to.target ?? "nothing"}`;
  if (from.mode !== to.mode) return `mode ${from.mode.toString(8)} → ${to.mode.toString(8)}`;
  if (from.owner !== to.owner || from.group !== to.group) return `now of ${to.owner}:${to.group}`;
  return grownFrom(sizeOf(from), sizeOf(to));
}

/** Sizes are rounded, so two of them can be one text. */
const grownFrom = (before: string, now: string): string => (before === now ? now : `${before} → ${now}`);

const sizeOf = (file: ComparedFile | undefined): string => (file?.size === undefined ? "" : size(file.size));

export const titleOf = ({ difference: { from, to } }: Compared): string =>
  `${from.build.version} ${from.build.imageType} → ${to.build.version} ${to.build.imageType}`;
